import { readFile } from 'node:fs/promises'
import { SentencePieceUnigram } from '@pocket/sentencepiece'

const tokenizer = SentencePieceUnigram.fromBytes(await readFile('tokenizer.model'))

const ids = tokenizer.encode('Hello from my pocket. 😀')
console.log(ids)
console.log(ids.map((id) => tokenizer.idToPiece(id)).join(' '))
console.log(tokenizer.decode(ids))
