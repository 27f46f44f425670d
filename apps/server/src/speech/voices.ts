import type { SpeechEngine } from '@pocket/tts'
import type { ServerConfig } from '../config.ts'
import { ServerError } from '../errors.ts'

/**
 * The voices of OpenAI's API, and who speaks in their place: the first of these that the model has, else its default
 * voice. The voices are those of the embedded model and of Kyutai's English checkpoints, chosen by pitch and temper.
 */
const standIns: Readonly<Record<string, readonly string[]>> = {
  alloy: [],
  ash: ['rms', 'marius'],
  ballad: ['awb', 'jean'],
  cedar: ['rms', 'javert'],
  coral: ['slt', 'cosette'],
  echo: ['rms', 'marius'],
  fable: ['awb', 'jean'],
  marin: ['slt', 'fantine'],
  nova: ['slt', 'eponine'],
  onyx: ['awb', 'javert'],
  sage: ['slt', 'azelma'],
  shimmer: ['slt', 'alba'],
  verse: ['rms', 'marius'],
}

export interface ListedVoice {
  readonly id: string
  /** Other names that it answers to. */
  readonly aliases: string[]
}

/** The names that callers may use, and the model's voices behind them. Never a path or a URL. */
export class VoiceNames {
  readonly default: string | undefined
  readonly #voices: readonly string[]
  readonly #aliases: ReadonlyMap<string, string>

  /** Throws ServerError `invalid-option` for an alias or a default that leads nowhere. */
  constructor(engine: Pick<SpeechEngine, 'voices' | 'defaultVoice'>, config: ServerConfig) {
    this.#voices = engine.voices()
    const wanted = config.defaultVoice
    if (wanted !== undefined) this.#require(wanted, 'defaultVoice')
    this.default = wanted ?? engine.defaultVoice
    this.#aliases = this.#collect(config.voiceAlias)
  }

  /** The voice of that name; undefined where there is none. */
  find(name: string): string | undefined {
    return this.#voices.includes(name) ? name : this.#aliases.get(name)
  }

  list(): ListedVoice[] {
    const entries = [...this.#aliases]
    return this.#voices.map((id) => ({
      id,
      aliases: entries.filter(([, voice]) => voice === id).map(([alias]) => alias),
    }))
  }

  /** For people who asked for another. */
  describe(): string {
    return `${this.#voices.join(', ')}, or their aliases ${[...this.#aliases.keys()].join(', ')}`
  }

  #collect(configured: ServerConfig['voiceAlias']): Map<string, string> {
    const aliases = new Map<string, string>()
    for (const [alias, candidates] of Object.entries(standIns)) {
      const voice = candidates.find((name) => this.#voices.includes(name)) ?? this.default
      if (voice !== undefined) aliases.set(alias, voice)
    }
    for (const [alias, voice] of Object.entries(configured)) {
      this.#require(voice, `voiceAlias ${alias}`)
      aliases.set(alias, voice)
    }
    // A voice's own name always means that voice.
    for (const voice of this.#voices) aliases.delete(voice)
    return aliases
  }

  #require(voice: string, option: string): void {
    if (this.#voices.includes(voice)) return
    throw new ServerError(
      'invalid-option',
      `${option}: the model has no voice '${voice}'; it has ${this.#voices.join(', ') || 'none'}`,
    )
  }
}
