import type { Checkpoint, Language } from './checkpoint.ts'
import type { PredefinedVoice } from './voices.ts'

type Defaults = Pick<Checkpoint, 'defaultSentence'> & { readonly defaultVoice: PredefinedVoice }

/** Voices: `DEFAULT_VOICE_FOR_LANGUAGE` of the reference, each a speaker of the language. */
export const defaultsOf: Readonly<Record<Language, Defaults>> = {
  de: {
    defaultVoice: 'juergen',
    defaultSentence: 'Hallo! Diese Stimme entsteht auf deinem eigenen Rechner, Stück für Stück.',
  },
  en: {
    defaultVoice: 'alba',
    defaultSentence: 'Hello! This voice is made on your own machine, one frame at a time.',
  },
  es: {
    defaultVoice: 'lola',
    defaultSentence: '¡Hola! Esta voz nace en tu propio ordenador, trocito a trocito.',
  },
  fr: {
    defaultVoice: 'estelle',
    defaultSentence: 'Bonjour ! Cette voix naît sur votre propre machine, une trame après l’autre.',
  },
  it: {
    defaultVoice: 'giovanni',
    defaultSentence: 'Ciao! Questa voce nasce sul tuo computer, un pezzetto alla volta.',
  },
  pt: {
    defaultVoice: 'rafael',
    defaultSentence: 'Olá! Esta voz nasce no seu próprio computador, um pedacinho de cada vez.',
  },
}
