import { hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import {
  authorizationTypedData,
  decodeAuthorization,
  encodeAuthorization,
} from '#chains/evm/token-authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { encodePermit, permitTypedData, type TokenPermit } from '#chains/evm/token-permit.ts'
import { stringifyJson } from '#contract/json.ts'
import {
  NATIVE_ETH,
  NATIVE_SOL,
  SOLANA_DEVNET,
  type Asset,
  type Network,
} from '#contract/network.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { decodePayload } from '#x402/payload.ts'
import { toV1, type Requirements } from '#x402/requirements.ts'
import type { PaymentState } from '../../../payment-flow/machine.ts'
import { factsOf } from '../../verify/proof/facts.ts'
import { checkLocally } from '../../verify/proof/local-checks.ts'
import { headerOfProof, nextHeader } from './header.ts'
import { termsOf } from './runs.ts'
import type { Purchase } from './purchase.ts'

/** What the explorer sends is held against what the verifier reads: the two must agree on every payment. */

const payer = privateKeyToAccount(generatePrivateKey())
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const USDC: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const network: Network = {
  network: 'eip155:31337',
  name: 'Chain',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH, USDC],
}
const TX = `0x${'AB'.repeat(32)}`
const resource = {
  url: 'https://shop.example/a?order=1',
  description: 'An article',
  mimeType: 'text/plain',
}

function visitOf(
  version: 1 | 2,
  way: Purchase['way'],
  change: Partial<Requirements> = {},
): Purchase {
  const requirements: Requirements = {
    scheme: 'exact',
    network: network.network,
    amount: '1000',
    asset: NATIVE_ETH.address,
    payTo: PAYEE,
    maxTimeoutSeconds: 300,
    extra: { assetTransferMethod: 'txid', quote: 'code' },
    ...change,
  }
  const entry = stringifyJson(version === 2 ? requirements : toV1(requirements, resource))
  const request = {
    method: 'GET' as const,
    url: 'https://shop.example/a',
    headers: [],
    body: null,
    via: 'direct' as const,
  }
  return {
    id: 'visit',
    revision: 1,
    createdAt: 0,
    updatedAt: 0,
    request,
    version,
    entry,
    resource,
    way,
    header: null,
    deliveries: [],
  }
}

const order = {
  id: 'visit',
  createdAt: 0,
  network: network.network,
  asset: NATIVE_ETH,
  sender: payer.address,
  recipient: PAYEE,
  amountAtomic: 1000n,
  walletName: 'W',
}
const built = {
  paymentId: 'visit',
  bytes: new Uint8Array(),
  lastValidBlockHeight: 1,
  deadlineAt: 1,
  builtHeight: 1,
  nonce: 0,
  maxFeeAtomic: 0n,
  digest: '',
}
const landed = {
  signature: TX,
  height: 1,
  blockHash: null,
  confirmations: 1,
  requiredConfirmations: 1,
  feeAtomic: 0n,
}
const confirmed = {
  step: 'confirmed',
  attempt: 1,
  order,
  built,
  sent: { bytes: null, signature: TX },
  landed,
} as PaymentState
const waiting = {
  step: 'broadcast',
  attempt: 1,
  order,
  built,
  sent: { bytes: null, signature: TX },
  since: 0,
} as PaymentState

async function statesOf(header: string, asset: Asset): Promise<Record<string, string>> {
  const decoded = decodePayload(header)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const expected = {
    network,
    asset,
    wallet: PAYEE,
    amountAtomic: 1000n,
    resource: null,
    memo: null,
  }
  const checks = await checkLocally(factsOf(decoded.payload), decoded.payload, {
    expected,
    now: Date.now(),
  })
  return Object.fromEntries(checks.map(({ name, state }) => [name, state]))
}

describe.each([1, 2] as const)('in version %i', (version) => {
  test('a landed transfer is proven by the payer’s signature over it and its resource', async () => {
    const visit = visitOf(version, 'transaction_then_proof')
    const next = nextHeader(visit, termsOf(visit), confirmed)
    if (next.kind !== 'sign') throw new Error(next.kind)
    const signature = await (payer.signTypedData as (data: object) => Promise<string>)(next.data)
    const header = headerOfProof(visit, confirmed, signature)
    expect(header.name).toBe(version === 2 ? 'PAYMENT-SIGNATURE' : 'X-PAYMENT')
    const states = await statesOf(header.value, NATIVE_ETH)
    expect(new Set(Object.values(states))).toEqual(new Set(['ok']))
    expect(decodePayload(header.value)).toMatchObject({
      payload: { payload: { txRef: TX.toLowerCase() } },
    })
  })

  test('an authorization goes out with its signature as soon as it may be outside', async () => {
    const message = {
      from: payer.address,
      to: PAYEE as `0x${string}`,
      value: 1000n,
      validAfter: 1n,
      validBefore: 9_999_999_999n,
      nonce: `0x${'cd'.repeat(32)}` as const,
    }
    const domain = {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: USDC.address as `0x${string}`,
    }
    const bytes = encodeAuthorization({ domain, message })
    expect(decodeAuthorization(bytes).ok).toBe(true)
    const signature = hexToBytes(
      await payer.signTypedData(authorizationTypedData({ domain, message })),
    )
    const visit = visitOf(version, 'authorization', {
      asset: USDC.address,
      extra: { name: 'USD Coin', version: '2' },
    })
    const state = {
      ...waiting,
      built: { ...built, bytes },
      sent: { bytes: signature, signature: message.nonce },
    } as PaymentState
    const next = nextHeader(visit, termsOf(visit), state)
    if (next.kind !== 'ready') throw new Error(next.kind)
    const states = await statesOf(next.header.value, USDC)
    expect(Object.values(states)).not.toContain('bad')
    expect(states.signature).toBe(version === 2 ? 'ok' : 'open')
  })

  test('a permit goes out with every field that was signed', async () => {
    const permit: TokenPermit = {
      chainId: 31337,
      verifyingContract: PERMIT2,
      from: payer.address,
      token: USDC.address as `0x${string}`,
      amount: 1000n,
      spender: EXACT_PERMIT2_PROXY,
      nonce: 77n,
      validAfter: 1n,
      deadline: 9_999_999_999n,
      to: PAYEE,
    }
    const signature = hexToBytes(await payer.signTypedData(permitTypedData(permit)))
    const visit = visitOf(version, 'permit', {
      asset: USDC.address,
      extra: { assetTransferMethod: 'permit2' },
    })
    const state = {
      ...waiting,
      built: { ...built, bytes: encodePermit(permit) },
      sent: { bytes: signature, signature: 'permit:77' },
    } as PaymentState
    const next = nextHeader(visit, termsOf(visit), state)
    if (next.kind !== 'ready') throw new Error(next.kind)
    expect(Object.values(await statesOf(next.header.value, USDC))).not.toContain('bad')
    const decoded = decodePayload(next.header.value)
    expect(decoded).toMatchObject({
      payload: {
        payload: {
          permit2Authorization: {
            spender: EXACT_PERMIT2_PROXY,
            nonce: '77',
            witness: { to: PAYEE },
          },
        },
      },
    })
  })

  test.each(['signed_transfer', 'sponsored'] as const)(
    'a transfer of Solana (%s) is sent as it was signed',
    (way) => {
      const visit = visitOf(version, way, {
        network: SOLANA_DEVNET,
        asset: NATIVE_SOL.address,
        payTo: 'So11111111111111111111111111111111111111112',
        extra: { memo: 'm' },
      })
      const state = {
        ...waiting,
        sent: { bytes: Uint8Array.of(1, 2, 3), signature: 'x' },
      } as PaymentState
      const next = nextHeader(visit, termsOf(visit), state)
      expect(next.kind === 'ready' && decodePayload(next.header.value)).toMatchObject({
        ok: true,
        payload: { x402Version: version, payload: { transaction: 'AQID' } },
      })
    },
  )
})

test('the terms are echoed as they came, with what this page does not know', () => {
  const visit = visitOf(2, 'signed_transfer', {
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL.address,
    payTo: 'So11111111111111111111111111111111111111112',
    extra: { memo: 'm', quote: 'code', odd: { deep: [1] } },
  })
  const state = { ...waiting, sent: { bytes: Uint8Array.of(1), signature: 'x' } } as PaymentState
  const next = nextHeader(visit, termsOf(visit), state)
  expect(next.kind === 'ready' && decodePayload(next.header.value)).toMatchObject({
    payload: { accepted: JSON.parse(visit.entry) as object, resource },
  })
})

test.each<[string, Purchase['way'], PaymentState]>([
  ['a transfer that has not landed', 'transaction_then_proof', waiting],
  ['a transfer whose memo is the proof, before it is confirmed', 'transaction', waiting],
  [
    'a signature nobody has yet',
    'signed_transfer',
    {
      step: 'awaiting_wallet',
      attempt: 1,
      order,
      built,
      review: {},
      since: 0,
    } as unknown as PaymentState,
  ],
  [
    'signed bytes that are not in the journal as outside yet',
    'authorization',
    { step: 'signed', attempt: 1, order, built, sent: { bytes: Uint8Array.of(1), signature: 'x' } },
  ],
])('%s pays nothing yet', (_, way, state) => {
  const visit = visitOf(2, way)
  expect(nextHeader(visit, termsOf(visit), state)).toEqual({ kind: 'waits' })
})
