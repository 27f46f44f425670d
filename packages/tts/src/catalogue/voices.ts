import { PocketTtsError } from '../errors.ts'
import { nearest } from '../model/nearest.ts'
import type { Checkpoint } from './checkpoint.ts'

/**
 * The predefined voices and the recordings they were made from (`_ORIGINS_OF_PREDEFINED_VOICES` of the reference 2.1.0).
 * Every checkpoint has all of them, each as a voice file of its own; only a model that clones voices can use the
 * recordings, whose licences are in their repositories.
 */
export const predefinedVoices = {
  cosette: 'hf://kyutai/tts-voices/expresso/ex04-ex02_confused_001_channel1_499s.wav',
  marius: 'hf://kyutai/tts-voices/voice-donations/Selfie.wav',
  javert: 'hf://kyutai/tts-voices/voice-donations/Butter.wav',
  alba: 'hf://kyutai/tts-voices/alba-mackenna/casual.wav',
  jean: 'hf://kyutai/tts-voices/ears/p010/freeform_speech_01_enhanced.wav',
  anna: 'hf://kyutai/tts-voices/vctk/p228_023_enhanced.wav',
  vera: 'hf://kyutai/tts-voices/vctk/p229_023_enhanced.wav',
  fantine: 'hf://kyutai/tts-voices/vctk/p244_023_enhanced.wav',
  charles: 'hf://kyutai/tts-voices/vctk/p254_023_enhanced.wav',
  paul: 'hf://kyutai/tts-voices/vctk/p259_023_enhanced.wav',
  eponine: 'hf://kyutai/tts-voices/vctk/p262_023_enhanced.wav',
  azelma: 'hf://kyutai/tts-voices/vctk/p303_023_enhanced.wav',
  george: 'hf://kyutai/tts-voices/vctk/p315_023_enhanced.wav',
  mary: 'hf://kyutai/tts-voices/vctk/p333_023_enhanced.wav',
  jane: 'hf://kyutai/tts-voices/vctk/p339_023_enhanced.wav',
  michael: 'hf://kyutai/tts-voices/vctk/p360_023_enhanced.wav',
  eve: 'hf://kyutai/tts-voices/vctk/p361_023_enhanced.wav',
  bill_boerst: 'hf://kyutai/tts-voices/voice-zero/bill_boerst.wav',
  peter_yearsley: 'hf://kyutai/tts-voices/voice-zero/peter_yearsley.wav',
  stuart_bell: 'hf://kyutai/tts-voices/voice-zero/stuart_bell.wav',
  caro_davy: 'hf://kyutai/tts-voices/voice-zero/caro_davy.wav',
  giovanni:
    'hf://kyutai/pocket-tts/common_voice_it_36520747-enhanced-v2.mp3@64ab7d24c479d736a83b8cc666c4a776fca30fda',
  lola: 'hf://kyutai/pocket-tts/common_voice_es_19762977-enhanced-v2.mp3@64ab7d24c479d736a83b8cc666c4a776fca30fda',
  juergen: 'hf://kyutai/pocket-tts/de-DE-juergen.mp3@64ab7d24c479d736a83b8cc666c4a776fca30fda',
  rafael: 'hf://kyutai/pocket-tts/g-Vi8PgmSY0-enhanced-v2.wav@64ab7d24c479d736a83b8cc666c4a776fca30fda',
  estelle:
    'hf://kyutai/tts-voices/unmute-prod-website/developpeuse-3.wav@1fc7395b7e012e2bbebfca14b942a4ef62ccc899',
} as const

export type PredefinedVoice = keyof typeof predefinedVoices

const isPredefinedVoice = (name: string): name is PredefinedVoice => Object.hasOwn(predefinedVoices, name)

/**
 * The voice file of a predefined voice for one checkpoint, as `hf://owner/repo/path@revision`.
 * Throws PocketTtsError `unknown-voice`, naming the nearest one.
 */
export const voiceLocation = (checkpoint: Checkpoint, name: string): string => {
  if (isPredefinedVoice(name)) return checkpoint.voiceTemplate.replace('{name}', name)
  const names = Object.keys(predefinedVoices)
  throw new PocketTtsError(
    'unknown-voice',
    `there is no predefined voice '${name}'; did you mean ${nearest(name, names, String)}? ` +
      `Known are ${names.join(', ')}`,
  )
}
