import bs58 from 'bs58'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  checksumAddress,
  EVM_NATIVE,
  parseAddress,
  shortAddress,
  SOLANA_NATIVE,
} from './address.ts'

/** The examples of EIP-55. */
const EIP_55 = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

const evmBytes = fc.uint8Array({ minLength: 20, maxLength: 20 })

describe('EVM', () => {
  test.each(EIP_55)('spells %s as EIP-55 does', (address) => {
    expect(checksumAddress(address.toLowerCase())).toBe(address)
    expect(parseAddress(address)).toEqual({ ok: true, family: 'evm', address })
  })

  test('spells every address as viem does, from any case', () => {
    fc.assert(
      fc.property(evmBytes, (bytes) => {
        const hex = Buffer.from(bytes).toString('hex')
        const address = getAddress(`0x${hex}`)
        for (const text of [`0x${hex}`, `0x${hex.toUpperCase()}`, address])
          expect(parseAddress(text)).toEqual({ ok: true, family: 'evm', address })
      }),
      { numRuns: 1000 },
    )
  })

  test('refuses a mixed-case address with one letter in the wrong case', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...EIP_55.slice(4)),
        fc.integer({ min: 2, max: 41 }),
        (address, at) => {
          const char = address.charAt(at)
          const other = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()
          fc.pre(other !== char)
          expect(parseAddress(address.slice(0, at) + other + address.slice(at + 1))).toEqual({
            ok: false,
            problem: 'bad_checksum',
          })
        },
      ),
    )
  })

  test('the native sentinel is an address in normal form', () => {
    expect(parseAddress(EVM_NATIVE)).toEqual({ ok: true, family: 'evm', address: EVM_NATIVE })
  })
})

describe('Solana', () => {
  test('takes base58 of 32 bytes, whatever the bytes', () => {
    const key = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.integer({ min: 0, max: 31 }).map((zeros) => new Uint8Array(32).fill(7, zeros)),
    )
    fc.assert(
      fc.property(key, (bytes) => {
        const address = bs58.encode(bytes)
        expect(parseAddress(address)).toEqual({ ok: true, family: 'solana', address })
      }),
      { numRuns: 2000 },
    )
  })

  test('refuses base58 of any other length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        fc.pre(bytes.length !== 32)
        expect(parseAddress(bs58.encode(bytes))).toEqual({ ok: false, problem: 'not_an_address' })
      }),
    )
  })

  test('the native sentinel is an address in normal form', () => {
    expect(parseAddress(SOLANA_NATIVE)).toEqual({
      ok: true,
      family: 'solana',
      address: SOLANA_NATIVE,
    })
  })
})

test.each([
  '',
  '0x',
  `0x${'a'.repeat(39)}`,
  `0x${'a'.repeat(41)}`,
  `0X${'a'.repeat(40)}`,
  `0x${'g'.repeat(40)}`,
  'a'.repeat(40),
  '0OIl'.repeat(10),
  `${SOLANA_NATIVE} `,
  `${SOLANA_NATIVE}\n`,
  'vitalik.eth',
  `0x${'а'.repeat(40)}`,
])('refuses %j', (text) => {
  expect(parseAddress(text)).toEqual({ ok: false, problem: 'not_an_address' })
})

test('shortAddress keeps both ends', () => {
  expect(shortAddress('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBe('0x5aAe…eAed')
  expect(shortAddress('EtWTRABZaYq6iMfeYKouRu166VU2xqa1')).toBe('EtWT…xqa1')
  expect(shortAddress('0x12')).toBe('0x12')
})
