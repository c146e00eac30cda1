import { bytesToHex, concat, getAddress, hexToBytes, toHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'
import { changeBytes, type Rng } from '../tamper/rng.ts'
import { CHAIN_ID, DOMAIN, TOKEN, type ModelToken } from './model-token.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
export const NETWORK = `eip155:${CHAIN_ID}` as const

type Draft = {
  authorization: Record<string, unknown>
  signature: unknown
  accepted: Record<string, unknown>
  requirements: Record<string, unknown>
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
  balance: bigint
  used: boolean
  blocked: boolean
}

export type VerifyCase = {
  how: string
  input: {
    x402Version: 2
    paymentPayload: Record<string, unknown>
    paymentRequirements: Record<string, unknown>
  }
}

type Change = (draft: Draft, rng: Rng) => void
const address = (rng: Rng) => getAddress(bytesToHex(rng.bytes(20)))
const ODD: readonly [unknown, ...unknown[]] = [
  null,
  undefined,
  0,
  1,
  -1,
  1.5,
  true,
  '',
  '0',
  '00',
  '-1',
  '0x',
  '0x1',
  '1e3',
  ' 1',
  '1 ',
  [],
  {},
  'NaN',
  '١',
  (2n ** 256n).toString(),
  (2n ** 256n - 1n).toString(),
]
const FIELDS = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const

/** Made before the payer signs: what is signed says so. */
const SIGNED: Record<string, Change> = {
  'another recipient': ({ authorization }, rng) => (authorization.to = address(rng)),
  'another amount': ({ authorization }, rng) =>
    (authorization.value = rng
      .pick<bigint>([0n, 1n, 999_999n, 1_000_001n, 2n ** 256n - 1n])
      .toString()),
  'not valid yet': ({ authorization }, rng) =>
    (authorization.validAfter = seconds(rng.pick([60, 3_600, 10 ** 9]))),
  'not valid any more': ({ authorization }, rng) =>
    (authorization.validBefore = seconds(rng.pick([-(10 ** 9), -3_600, -60, -1, 1]))),
  'without an end': ({ authorization }) =>
    (authorization.validBefore = (2n ** 256n - 1n).toString()),
  'to the payer': ({ authorization, requirements, accepted }) =>
    (authorization.to = requirements.payTo = accepted.payTo = authorization.from),
  'another domain': ({ domain, requirements, accepted }, rng) => {
    domain.name = rng.pick(['USDC', 'USD coin', ''])
    requirements.extra = accepted.extra = { ...DOMAIN, name: domain.name }
  },
  'another chain': ({ domain }) => (domain.chainId = 1),
  'another token': ({ domain }, rng) => (domain.verifyingContract = address(rng)),
}

/** Made after that. */
const UNSIGNED: Record<string, Change> = {
  'a byte of the signature': (draft, rng) =>
    (draft.signature = bytesToHex(changeBytes(rng, bytesOf(draft.signature)).bytes)),
  'the other signature of the key': (draft) => (draft.signature = mirrored(draft.signature)),
  'a recovery id': (draft, rng) =>
    (draft.signature = concat([
      bytesToHex(bytesOf(draft.signature).subarray(0, 64)),
      toHex(rng.pick([0, 1, 2, 26, 27, 28, 29, 255]), { size: 1 }),
    ])),
  'no signature': (draft, rng) =>
    (draft.signature = rng.pick<unknown>(['0x', '', null, undefined])),
  'an undeployed account': (draft) =>
    (draft.signature = concat([draft.signature as Hex, `0x${'6492'.repeat(16)}`])),
  'a field': ({ authorization }, rng) => (authorization[rng.pick(FIELDS)] = rng.pick(ODD)),
  'a field of another type': ({ authorization }, rng) => {
    const field = rng.pick(FIELDS)
    authorization[field] = rng.pick<unknown>([Number(authorization[field]), [authorization[field]]])
  },
  'upper case': ({ authorization }, rng) => {
    const field = rng.pick(['from', 'to', 'nonce'] as const)
    authorization[field] = String(authorization[field]).toUpperCase().replace('0X', '0x')
  },
  'an amount that is asked': ({ requirements }, rng) =>
    (requirements.amount = rng.pick<unknown>(['1', '0', '999999', '1000001', '-1', 1_000_000])),
  'a payee that is asked': ({ requirements }, rng) => (requirements.payTo = address(rng)),
  'a network that is asked': ({ requirements }, rng) =>
    (requirements.network = rng.pick(['eip155:1', 'base', 'eip155:08453'])),
  'a token that is asked': ({ requirements }, rng) => (requirements.asset = address(rng)),
  'a scheme that is asked': ({ requirements }) => (requirements.scheme = 'upto'),
  'what was accepted': ({ accepted }, rng) =>
    (accepted[rng.pick(['scheme', 'network', 'amount', 'asset', 'payTo'])] = rng.pick(ODD)),
  'a field more': ({ authorization }) => (authorization.more = '1'),
  'too little money': (draft, rng) => (draft.balance = rng.pick([0n, 1n, 999_999n])),
  'a used nonce': (draft) => (draft.used = true),
  'a blocked payer': (draft) => (draft.blocked = true),
}

function seconds(fromNow: number): string {
  return String(Math.floor(Date.now() / 1000) + fromNow)
}

function bytesOf(signature: unknown): Uint8Array {
  return hexToBytes(signature as Hex)
}

function mirrored(signature: unknown): Hex {
  const bytes = bytesOf(signature)
  const s = ORDER - BigInt(bytesToHex(bytes.subarray(32, 64)))
  return concat([
    bytesToHex(bytes.subarray(0, 32)),
    toHex(s, { size: 32 }),
    bytes[64] === 27 ? '0x1c' : '0x1b',
  ])
}

/** A payment as a client sends it, whole or with one or two things wrong; what the chain shows of it is put into the model. */
export async function makeCase(rng: Rng, token: ModelToken): Promise<VerifyCase> {
  const payer = privateKeyToAccount(bytesToHex(rng.bytes(32)))
  const extra = { assetTransferMethod: 'eip3009', ...DOMAIN }
  const terms = {
    scheme: 'exact',
    network: NETWORK,
    amount: '1000000',
    asset: TOKEN,
    payTo: address(rng),
    maxTimeoutSeconds: 60,
    extra,
  }
  const draft: Draft = {
    authorization: {
      from: payer.address,
      to: terms.payTo,
      value: terms.amount,
      validAfter: rng.pick(['0', seconds(-60)]),
      validBefore: seconds(rng.pick([60, 600])),
      nonce: bytesToHex(rng.bytes(32)),
    },
    signature: undefined,
    accepted: { ...terms },
    requirements: { ...terms },
    domain: { ...DOMAIN, chainId: CHAIN_ID, verifyingContract: TOKEN },
    balance: rng.pick([1_000_000n, 10n ** 12n]),
    used: false,
    blocked: false,
  }
  const changes = rng.pick([0, 1, 1, 1, 1, 2])
  const how: string[] = []
  let signed = false
  const sign = async () => {
    const message = draft.authorization
    draft.signature = await payer.signTypedData({
      domain: draft.domain,
      types: AUTHORIZATION_TYPES,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: message.from as Hex,
        to: message.to as Hex,
        value: BigInt(String(message.value)),
        validAfter: BigInt(String(message.validAfter)),
        validBefore: BigInt(String(message.validBefore)),
        nonce: message.nonce as Hex,
      },
    })
    signed = true
  }
  for (let change = 0; change < changes; change++) {
    const before = !signed && rng.below(3) === 0
    if (!before && !signed) await sign()
    const ways = before ? SIGNED : UNSIGNED
    const name = Object.keys(ways)[rng.below(Object.keys(ways).length)] ?? ''
    try {
      ways[name]?.(draft, rng)
      how.push(name)
    } catch {
      // The first change left nothing for the second.
    }
  }
  if (!signed) await sign()
  const { authorization, signature, accepted, requirements } = draft
  token.balances.set(payer.address, draft.balance)
  if (draft.used) token.used.add(`${payer.address} ${String(authorization.nonce)}`)
  if (draft.blocked) token.blocked.add(payer.address)
  return {
    how: how.join(' and ') || 'nothing changed',
    input: {
      x402Version: 2,
      paymentPayload: { x402Version: 2, accepted, payload: { signature, authorization } },
      paymentRequirements: requirements,
    },
  }
}
