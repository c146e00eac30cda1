import { describe } from 'vitest'
import { readCheckoutJson } from './read-vectors.ts'
import {
  AesGcmCases,
  Ed25519Cases,
  Secp256k1Cases,
  testAesGcm,
  testEd25519,
  testSecp256k1,
} from './wycheproof-cases.ts'

describe('ECDSA on secp256k1', () => {
  testSecp256k1(
    readCheckoutJson(
      'wycheproof/testvectors_v1/ecdsa_secp256k1_sha256_p1363_test.json',
      Secp256k1Cases,
    ),
    252,
  )
})

describe('Ed25519', () => {
  testEd25519(readCheckoutJson('wycheproof/testvectors_v1/ed25519_test.json', Ed25519Cases), 151)
})

describe('AES-GCM with a key of 256 bits, a nonce of 96 and a tag of 128', () => {
  testAesGcm(readCheckoutJson('wycheproof/testvectors_v1/aes_gcm_test.json', AesGcmCases), {
    all: 66,
    withText: 48,
  })
})
