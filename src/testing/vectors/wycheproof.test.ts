import { describe } from 'vitest'
import { readVendored } from './read-vectors.ts'
import {
  AesGcmCases,
  Ed25519Cases,
  Secp256k1Cases,
  testAesGcm,
  testEd25519,
  testSecp256k1,
} from './wycheproof-cases.ts'

describe('ECDSA on secp256k1', () => {
  testSecp256k1(readVendored('wycheproof/secp256k1.json.gz', Secp256k1Cases), 211)
})

describe('Ed25519', () => {
  testEd25519(readVendored('wycheproof/ed25519.json.gz', Ed25519Cases), 145)
})

describe('AES-GCM with a key of 256 bits, a nonce of 96 and a tag of 128', () => {
  testAesGcm(readVendored('wycheproof/aes-gcm.json.gz', AesGcmCases), { all: 48, withText: 39 })
})
