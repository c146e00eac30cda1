import { describe } from 'vitest'
import { Ed25519Cases, testEd25519 } from './ed25519-cases.ts'
import { readVendored } from './read-vectors.ts'

describe('Ed25519', () => {
  testEd25519(readVendored('wycheproof/ed25519.json.gz', Ed25519Cases), 145)
})
