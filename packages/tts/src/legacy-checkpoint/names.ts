/**
 * How checkpoints of two files call their tensors, and how the combined file does: `get_flow_lm_state_dict` and
 * `get_mimi_state_dict` of the reference (`pocket_tts/utils/weights_loading.py`, 2.1.0). Undefined is a tensor that
 * only training needed. Names that are new already stay as they are.
 */
export type Rename = (name: string) => string | undefined

const flowLmNames: Readonly<Record<string, string>> = {
  'condition_provider.conditioners.transcript_in_segment.embed.weight': 'conditioner.embed.weight',
  'condition_provider.conditioners.speaker_wavs.output_proj.weight': 'speaker_proj_weight',
  'fuser.padding_value': 'bos_before_voice',
}

const flowLmDropped =
  /^(flow\.w_s_t\.|num_ema_updates$|condition_provider\.conditioners\.(transcript_in_segment|speaker_wavs)\.learnt_padding$)/

/** A tensor of the language model's file, as the combined file has it under `flow_lm.`. */
export const renameFlowLm: Rename = (name) => {
  if (flowLmDropped.test(name)) return undefined
  const renamed = Object.hasOwn(flowLmNames, name) ? flowLmNames[name] : name
  return renamed?.replace('.self_attn.in_proj_weight', '.self_attn.in_proj.weight')
}

const mimiDropped =
  /^model\.quantizer\.vq\.|_codebook|quantizer\.logvar_proj\.weight$|^quantizer\.logvar_param$|wavlm_/

/** The resampling convolutions are wrapped twice in the combined file too. */
const wrappedTwice: ReadonlySet<string> = new Set([
  'downsample.conv.conv.weight',
  'upsample.convtr.convtr.weight',
])

/** A tensor of the codec's file, as the combined file has it under `mimi.`. */
export const renameMimi: Rename = (name) => {
  if (mimiDropped.test(name)) return undefined
  const stripped = name.replace(/^model\./, '')
  if (wrappedTwice.has(stripped)) return stripped
  return stripped
    .replaceAll('.conv.conv.', '.conv.')
    .replaceAll('.convtr.convtr.', '.convtr.')
    .replaceAll('in_proj_weight', 'in_proj.weight')
}
