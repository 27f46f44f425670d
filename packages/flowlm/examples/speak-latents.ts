import { readFile } from 'node:fs/promises'
import { FlowLm } from '@pocket/flowlm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'
import { SentencePieceUnigram } from '@pocket/sentencepiece'

const open = async (url: URL) => SafeTensors.fromBytes(await readFile(url))

const flowLm = await FlowLm.load(await open(mini.model), await createCpuKernels())
const { layers, heads, headDim, latentDim } = flowLm.config

// A voice is the KV cache of a prompt: keys and values of each layer, [2, 1, positions, heads, headDim].
const file = await open(mini.voices.rms)
const caches = Array.from(
  { length: layers },
  (_, n) => file.f32(`transformer.layers.${n}.self_attn/cache`).data,
)
const voice = {
  positions: caches[0]!.length / (2 * heads * headDim),
  heads,
  headDim,
  layers: caches.map((kv) => ({ k: kv.subarray(0, kv.length / 2), v: kv.subarray(kv.length / 2) })),
}

const tokenizer = SentencePieceUnigram.fromBytes(await readFile(mini.tokenizer))
const state = flowLm.createState({ adopt: voice })
await flowLm.promptTokens(tokenizer.encode('Hello from my pocket.'), state)

const frames: Float32Array[] = []
let latent: Float32Array | null = null
while (frames.length < 100) {
  const { hidden, eosLogit }: { hidden: Float32Array; eosLogit: number } = await flowLm.step(latent, state)
  if (eosLogit > -4) break
  const noise = new Float32Array(latentDim) // √temperature · a normal value each; this is temperature 0
  latent = await flowLm.sampleLatent(hidden, noise, 1)
  frames.push(flowLm.denormalize(latent))
}
console.log(
  `${frames.length} frames of ${latentDim} values, ${(frames.length * 0.08).toFixed(2)} s of speech`,
)
