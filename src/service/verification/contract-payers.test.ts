import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { concat, encodeAbiParameters, size, toHex, type Hex } from 'viem'
import { LosslessNumber, parseJson, stringifyJson } from '#contract/json.ts'
import {
  ANSWERS,
  approvePermit2Of,
  approvingSafePayer,
  contractClient,
  deployCode,
  deploySafe,
  lookupAt,
  revertsWith,
  safePayer,
  type ContractPayer,
} from '#testing/contract-payers.ts'
import { settleBuilt } from '#testing/payee-fixture.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type TokenMethod,
} from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { routes } from '../api/handlers.ts'

/** Payers that are contracts (EIP-1271): how a signature was verified decides how it is executed, and no signature alone makes a 5xx. */

let fixture: MinedTokenFixture
let app: TestApp
let key: string

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
  const { config, chains, signer } = fixture.context
  app = await startTestApp({ target: config.database, routes, parts: { config, chains, signer } })
  ;({ key } = await createTestKey(app.context.db))
})
afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await fixture?.[Symbol.asyncDispose]()
})

type Reply = { status: number; body: Record<string, unknown> }

async function post(path: string, body: unknown): Promise<Reply> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers,
    body: stringifyJson(body),
  })
  return { status: response.status, body: await response.json() }
}

/** A payee and the price that a contract is asked for, with tokens in the contract's account. */
async function billed(address: Hex, method: TokenMethod = 'eip3009') {
  const { requirements, payee, asset, amount } = await fixture.parties({ method })
  await fixture.tokens.fund(address)
  // The payee that settles alone pays the network fee.
  await fixture.evm.client.setBalance({ address: payee.address, value: 10n ** 18n })
  if (method === 'permit2') await approvePermit2Of(fixture.evm, address, asset)
  return { requirements, payee, asset, amount, method }
}

type Billed = Awaited<ReturnType<typeof billed>>

const signed = (payer: ContractPayer, { requirements }: Pick<Billed, 'requirements'>) =>
  payInvoice(contractClient(fixture.evm, payer), requirements)

const facilitated = (header: string, { requirements }: Pick<Billed, 'requirements'>) => ({
  x402Version: 2,
  paymentPayload: parseJson(Buffer.from(header, 'base64').toString()),
  paymentRequirements: requirements,
})

const presented = (header: string, { payee, method }: Pick<Billed, 'payee' | 'method'>) => ({
  walletAddress: payee.address,
  paymentProof: header,
  expectedAmount: new LosslessNumber(method === 'eip3009' ? '1.5' : '0.0000000000015'),
  asset: method === 'eip3009' ? 'USDC' : 'WETH',
  resource: 'https://shop.example/a',
})

/** What each of the four doors answers to one signature. The last one only builds, and the one before settles. */
async function atEveryDoor(
  payer: ContractPayer,
  all: Billed,
): Promise<Record<'verify' | 'build' | 'settle' | 'receive', Reply>> {
  const header = await signed(payer, all)
  return {
    verify: await post('/facilitator/verify', facilitated(header, all)),
    build: await post('/transaction/receive', presented(header, all)),
    settle: await post('/facilitator/settle', facilitated(header, all)),
    receive: await post('/payment/receive', presented(await signed(payer, all), all)),
  }
}

const bytes = (length: number) => toHex(new Uint8Array(length).fill(0x11))
const endingIn = (byte: number) => concat([bytes(64), toHex(byte, { size: 1 })])

const SIGNATURES: [string, Hex][] = [
  ...[0, 1, 64].map((length): [string, Hex] => [`${length} bytes`, bytes(length)]),
  ...[0, 1, 2, 26, 27, 28, 29, 31, 32, 35, 255].map((byte): [string, Hex] => [
    `65 bytes that end in ${byte}`,
    endingIn(byte),
  ]),
  ...[66, 130, 195, 1_500].map((length): [string, Hex] => [`${length} bytes`, bytes(length)]),
]

describe.each(['eip3009', 'permit2'] as const)(
  'a contract that answers for itself, by %s',
  (method) => {
    let all: Billed
    let valid: Hex
    let invalid: Hex

    beforeAll(async () => {
      valid = await deployCode(fixture.evm, () => ANSWERS.valid)
      invalid = await deployCode(fixture.evm, () => ANSWERS.invalid)
      all = await billed(valid, method)
      await fixture.tokens.fund(invalid)
    })

    test.each(SIGNATURES)('pays with a signature of %s at every door', async (_, signature) => {
      const before = await fixture.balance(all.asset, all.payee.address)
      const doors = await atEveryDoor({ address: valid, sign: async () => signature }, all)
      expect(doors).toMatchObject({
        verify: { status: 200, body: { isValid: true, payer: valid } },
        build: { status: 200, body: { settlement: 'required', kind: method, sender: valid } },
        settle: { status: 200, body: { success: true } },
        receive: { status: 200, body: { verified: true, sender: valid } },
      })
      expect((await fixture.balance(all.asset, all.payee.address)) - before).toBe(2n * all.amount)
    })

    test.each(SIGNATURES)(
      'that refuses a signature of %s is believed, at every door',
      async (_, signature) => {
        const doors = await atEveryDoor({ address: invalid, sign: async () => signature }, all)
        const refused = {
          status: 400,
          body: {
            error: {
              code: 'INVALID_PAYMENT_PROOF',
              details: { reason: { code: 'invalid_signature', params: {} } },
            },
          },
        }
        expect(doors).toMatchObject({
          verify: {
            status: 200,
            body: { isValid: false, invalidReason: 'invalid_exact_evm_payload_signature' },
          },
          build: refused,
          settle: {
            status: 200,
            body: { success: false, errorReason: 'invalid_exact_evm_payload_signature' },
          },
          receive: refused,
        })
      },
    )

    test('cannot pay with a signature of 5,000 bytes, and is told the limit', async () => {
      const doors = await atEveryDoor({ address: valid, sign: async () => bytes(5_000) }, all)
      const refused = {
        status: 400,
        body: {
          error: {
            code: 'INVALID_PAYMENT_PROOF',
            details: { reason: { code: 'malformed', params: {} } },
          },
        },
      }
      expect(doors).toMatchObject({
        verify: {
          body: {
            isValid: false,
            invalidReason: 'invalid_payload',
            invalidMessage: expect.stringContaining('at most 2048 bytes'),
          },
        },
        build: refused,
        settle: { body: { success: false, errorReason: 'invalid_payload' } },
        receive: refused,
      })
    })
  },
)

describe('a Safe', () => {
  test.each([
    ['1 of 1 with v 27 or 28', 'typed', 1, 1],
    ['1 of 1 with v 31 or 32', 'eth_sign', 1, 1],
    ['2 of 3 with v 27 or 28', 'typed', 3, 2],
    ['2 of 3 with v 31 or 32', 'eth_sign', 3, 2],
  ] as const)(
    '%s: pays by EIP-3009 and by Permit2, at every door',
    async (_, way, owners, threshold) => {
      const safe = await deploySafe(fixture.evm, { owners, threshold })
      const payer = safePayer(safe, way, threshold)
      expect(size(await payer.sign(bytes(32)))).toBe(65 * threshold)
      for (const method of ['eip3009', 'permit2'] as const) {
        const all = await billed(safe.address, method)
        expect(await atEveryDoor(payer, all)).toMatchObject({
          verify: { status: 200, body: { isValid: true, payer: safe.address } },
          build: { status: 200, body: { settlement: 'required' } },
          settle: { status: 200, body: { success: true } },
          receive: { status: 200, body: { verified: true, sender: safe.address } },
        })
        expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
      }
    },
  )

  test.each(['eip3009', 'permit2'] as const)(
    'whose owner approved the hash pays by %s: its v 1 is no recovery byte of a key',
    async (method) => {
      const safe = await deploySafe(fixture.evm, { owners: 1, threshold: 1 })
      const all = await billed(safe.address, method)
      expect(await atEveryDoor(approvingSafePayer(fixture.evm, safe), all)).toMatchObject({
        verify: { body: { isValid: true } },
        build: { status: 200 },
        settle: { body: { success: true } },
        receive: { status: 200, body: { verified: true, sender: safe.address } },
      })
    },
  )

  test.each(['typed', 'eth_sign'] as const)('pays a payee that settles alone (%s)', async (way) => {
    const safe = await deploySafe(fixture.evm, { owners: 1, threshold: 1 })
    const all = await billed(safe.address)
    const header = await signed(safePayer(safe, way), all)
    const built = await post('/transaction/receive', presented(header, all))
    expect(built).toMatchObject({
      status: 200,
      body: { settlement: 'required', kind: 'eip3009', sender: safe.address },
    })
    const hash = await settleBuilt(fixture.evm, all.payee, String(built.body.transaction))
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await post('/payment/receive', presented(header, all))).toMatchObject({
      status: 200,
      body: { verified: true, paymentId: built.body.paymentId, signature: hash },
    })
  })

  test('signed by a key that does not own it is refused', async () => {
    const [safe, other] = [
      await deploySafe(fixture.evm, { owners: 1, threshold: 1 }),
      await deploySafe(fixture.evm, { owners: 1, threshold: 1 }),
    ]
    const all = await billed(safe.address)
    const payer = {
      address: safe.address,
      sign: safePayer({ ...safe, owners: other.owners }, 'typed').sign,
    }
    expect(
      await post('/facilitator/settle', facilitated(await signed(payer, all), all)),
    ).toMatchObject({
      status: 200,
      body: { success: false, errorReason: 'invalid_exact_evm_payload_signature' },
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  })
})

describe('an ERC-6492 signature', () => {
  const MAGIC: Hex = `0x${'6492'.repeat(16)}`
  const wrap = (inner: Hex) =>
    concat([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [fixture.facilitator.address, '0x12345678', inner],
      ),
      MAGIC,
    ])

  test.each<[string, (hash: Hex) => Hex]>([
    ['of an account that is not deployed', () => wrap(bytes(65))],
    ['that is nothing but its ending', () => MAGIC],
    ['whose content does not decode', () => concat([bytes(33), MAGIC])],
  ])('%s is refused, and the answer says why', async (_, sign) => {
    const all = await billed(await deployCode(fixture.evm, () => '0x'))
    const doors = await atEveryDoor(
      { address: '0x00000000000000000000000000000000DeaDBeef', sign: async (hash) => sign(hash) },
      all,
    )
    const gotFact = { code: 'undeployed_signature', params: {} }
    const refused = {
      status: 400,
      body: {
        error: {
          code: 'INVALID_PAYMENT_PROOF',
          details: { reason: { code: 'invalid_signature', params: {} }, gotFact },
        },
      },
    }
    expect(doors).toMatchObject({
      verify: {
        status: 200,
        body: {
          isValid: false,
          invalidReason: 'invalid_exact_evm_payload_signature',
          extra: { checks: expect.arrayContaining([expect.objectContaining({ gotFact })]) },
        },
      },
      build: refused,
      settle: {
        status: 200,
        body: {
          success: false,
          errorReason: 'invalid_exact_evm_payload_signature',
          errorMessage: expect.any(String),
        },
      },
      receive: refused,
    })
  })
})

describe('a contract that answers anything else', () => {
  test.each<[string, (address: Hex) => Hex]>([
    ['nothing', () => ANSWERS.nothing],
    ['one byte', () => ANSWERS.one_byte],
    ['a revert without a reason', () => ANSWERS.reverts],
    ['a revert with bytes that are no error', () => revertsWith('0xdeadbeef01')],
    ['with all gas there is', () => ANSWERS.uses_all_gas],
  ])(
    '%s is refused as a signature of nobody, and the network counts as reachable',
    async (_, code) => {
      const address = await deployCode(fixture.evm, code)
      const all = await billed(address)
      const refused = {
        status: 400,
        body: {
          error: {
            code: 'INVALID_PAYMENT_PROOF',
            details: { reason: { code: 'invalid_signature', params: {} } },
          },
        },
      }
      expect(await atEveryDoor({ address, sign: async () => bytes(65) }, all)).toMatchObject({
        verify: {
          status: 200,
          body: { isValid: false, invalidReason: 'invalid_exact_evm_payload_signature' },
        },
        build: refused,
        settle: {
          status: 200,
          body: { success: false, errorReason: 'invalid_exact_evm_payload_signature' },
        },
        receive: refused,
      })
    },
  )

  test('a URL to look the answer up at is refused, and nobody asks that URL (EIP-3668)', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.end(JSON.stringify({ data: '0x' }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const address = await deployCode(fixture.evm, (at) =>
      lookupAt(at, `http://127.0.0.1:${port}/{sender}/{data}`),
    )
    const all = await billed(address)
    const doors = await atEveryDoor({ address, sign: async () => bytes(65) }, all)
    await new Promise((resolve) => server.close(resolve))
    expect(asked).toEqual([])
    expect(doors).toMatchObject({
      verify: { status: 200, body: { invalidReason: 'invalid_exact_evm_payload_signature' } },
      receive: { status: 400 },
      build: { status: 400 },
    })
  })
})
