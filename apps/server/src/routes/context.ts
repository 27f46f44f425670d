import type { SpeechEngine } from '@pocket/tts'
import type { ServerConfig } from '../config.ts'
import type { SpeechService } from '../speech/speech-service.ts'
import type { VoiceNames } from '../speech/voices.ts'
import type { WorkQueue } from '../speech/work-queue.ts'

/** What routes work with. */
export interface RouteContext {
  readonly config: ServerConfig
  readonly engine: SpeechEngine
  readonly service: SpeechService
  readonly voices: VoiceNames
  readonly queue: WorkQueue
  /** Whether requests are taken; why not, if not. */
  readonly state: () => 'healthy' | 'draining' | 'failed'
}
