import { ed25519, ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { describe, expect, test } from 'vitest'
import { evmWallet, solanaWallet } from '#testing/test-browser.ts'
import { isSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/signature.ts'

const TEXT = 'localhost wants you to sign in: é 𝄞\nline two'

describe('a signature on Ethereum', () => {
  test('with 27/28 and with the bare bit at its end is good', async () => {
    const { address, sign } = evmWallet()
    const signature = await sign(TEXT)
    expect(isSignedByEvm(address, TEXT, signature)).toBe(true)
    expect(isSignedByEvm(address.toLowerCase(), TEXT, signature)).toBe(true)
    const bare = signature.slice(0, 130) + (signature.endsWith('1b') ? '00' : '01')
    expect(isSignedByEvm(address, TEXT, bare)).toBe(true)
  })

  test('in its high form is refused, although it leads to the same signer', async () => {
    const { address, sign } = evmWallet()
    const signature = hexToBytes((await sign(TEXT)).slice(2))
    const s = BigInt(`0x${bytesToHex(signature.subarray(32, 64))}`)
    const high = (secp256k1.Point.CURVE().n - s).toString(16).padStart(64, '0')
    const flipped = `0x${bytesToHex(signature.subarray(0, 32))}${high}${signature[64] === 27 ? '1c' : '1b'}`
    expect(isSignedByEvm(address, TEXT, flipped)).toBe(false)
  })

  test.each(['02', '1a', '1d', '25', 'ff'])('that ends with %s is refused', async (v) => {
    const { address, sign } = evmWallet()
    expect(isSignedByEvm(address, TEXT, (await sign(TEXT)).slice(0, 130) + v)).toBe(false)
  })

  test('of another text, another key, another length or another spelling is refused', async () => {
    const { address, sign } = evmWallet()
    const signature = await sign(TEXT)
    expect(isSignedByEvm(address, `${TEXT} `, signature)).toBe(false)
    expect(isSignedByEvm(evmWallet().address, TEXT, signature)).toBe(false)
    expect(isSignedByEvm(address, TEXT, `${signature}00`)).toBe(false)
    expect(isSignedByEvm(address, TEXT, signature.slice(0, -2))).toBe(false)
    expect(isSignedByEvm(address, TEXT, signature.slice(2))).toBe(false)
  })
})

describe('a signature on Solana', () => {
  test('of the wallet itself is good; of another key, text or length it is not', async () => {
    const { address, sign } = solanaWallet()
    const signature = await sign(TEXT)
    expect(isSignedBySolana(address, TEXT, signature)).toBe(true)
    expect(isSignedBySolana(solanaWallet().address, TEXT, signature)).toBe(false)
    expect(isSignedBySolana(address, `${TEXT} `, signature)).toBe(false)
    expect(isSignedBySolana(address, TEXT, signature.slice(0, -1))).toBe(false)
  })

  test('with s beyond the order of the group is refused', async () => {
    const { address, sign } = solanaWallet()
    const bytes = bs58.decode(await sign(TEXT))
    let s = 0n
    for (const byte of bytes.slice(32).reverse()) s = (s << 8n) | BigInt(byte)
    let twin = s + ed25519.Point.CURVE().n
    for (let index = 32; index < 64; index++) {
      bytes[index] = Number(twin & 0xffn)
      twin >>= 8n
    }
    expect(isSignedBySolana(address, TEXT, bs58.encode(bytes))).toBe(false)
  })

  test.each(ED25519_TORSION_SUBGROUP)(
    'under the key %s of small order is refused: it would fit any text',
    (point) => {
      const forged = new Uint8Array(64)
      forged.set(hexToBytes(point))
      expect(isSignedBySolana(bs58.encode(hexToBytes(point)), TEXT, bs58.encode(forged))).toBe(
        false,
      )
      const neutral = new Uint8Array(64)
      neutral[0] = 1
      expect(isSignedBySolana(bs58.encode(hexToBytes(point)), TEXT, bs58.encode(neutral))).toBe(
        false,
      )
    },
  )

  test('whose nonce point is of small order is refused, as on the chain, although the equation holds', () => {
    const { secretKey, publicKey } = ed25519.keygen()
    const { scalar } = ed25519.utils.getExtendedPublicKey(secretKey)
    const neutral = ed25519.Point.ZERO.toBytes()
    const hash = sha512(concatBytes(neutral, publicKey, utf8ToBytes(TEXT)))
    const order = ed25519.Point.CURVE().n
    const s = ((BigInt(`0x${bytesToHex(hash.toReversed())}`) % order) * scalar) % order
    const signature = concatBytes(
      neutral,
      hexToBytes(s.toString(16).padStart(64, '0')).toReversed(),
    )
    expect(ed25519.verify(signature, utf8ToBytes(TEXT), publicKey, { zip215: false })).toBe(true)
    expect(isSignedBySolana(bs58.encode(publicKey), TEXT, bs58.encode(signature))).toBe(false)
  })

  test('of an address off the curve, such as a program-derived one, is refused', async () => {
    const { sign } = solanaWallet()
    const offCurve = new Uint8Array(32).fill(2)
    expect(() => ed25519.Point.fromBytes(offCurve)).toThrow('invalid y coordinate')
    expect(isSignedBySolana(bs58.encode(offCurve), TEXT, await sign(TEXT))).toBe(false)
  })
})
