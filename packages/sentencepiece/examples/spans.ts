import { readFile } from 'node:fs/promises'
import { SentencePieceUnigram } from '@pocket/sentencepiece'

const tokenizer = SentencePieceUnigram.fromBytes(await readFile('tokenizer.model'))
const text = 'Déjà vu 😀'

for (const { id, start, end } of tokenizer.encodeWithSpans(text)) {
  console.log(tokenizer.idToPiece(id), start, end, JSON.stringify(text.slice(start, end)))
}
