export { SentencePieceError, type SentencePieceErrorCode } from './error.ts'
export { SentencePieceUnigram, type TokenSpan } from './sentence-piece-unigram.ts'
