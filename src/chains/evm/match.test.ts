import {
  encodeFunctionData,
  erc20Abi,
  hexToBytes,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, networkFact } from '#contract/facts.ts'
import {
  evmFacts,
  evmIntent,
  evmPayer,
  evmReviewed,
  evmStranger,
  failing,
} from '#testing/chain-payments.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeLanded, type ChainReceipt, type EvmChainTransaction } from './landed.ts'
import { matchTransaction } from './match.ts'

const ETH = { symbol: 'ETH', decimals: 18 }
const both = <F>(fact: F) => [fact, fact]
const fields = {
  type: 'eip1559',
  chainId: 31337,
  to: evmIntent.recipient as Hex,
  value: evmIntent.amountAtomic,
  ...evmFacts,
} as const
const match = (change: Partial<TransactionSerializable>) =>
  matchTransaction(
    evmIntent,
    hexToBytes(serializeTransaction({ ...fields, ...change } as TransactionSerializable)),
  )

describe('matchTransaction', () => {
  test('holds for the payment that was asked for, with both values of every property as facts', () => {
    const { ok, rows } = matchTransaction(evmIntent, evmReviewed)
    expect(ok).toBe(true)
    expect(
      Object.fromEntries(rows.map(({ field, expected, got }) => [field, [expected, got]])),
    ).toEqual({
      network: both(networkFact('eip155:31337')),
      sender: both(addressFact(evmPayer.address)),
      recipient: both(addressFact(evmIntent.recipient)),
      amount: both(amountFact('10000000000000000', ETH)),
      asset: both({ code: 'currency', params: { symbol: 'ETH' } }),
      fee: [
        { code: 'at_most', params: moneyOf('1000000000000000', ETH) },
        { code: 'at_most', params: moneyOf('63000000000000', ETH) },
      ],
      feePayer: both(addressFact(evmPayer.address)),
      signers: both(addressFact(evmPayer.address)),
      expiry: [fact('until_nonce_used'), { code: 'nonce', params: { nonce: 7 } }],
      instructions: [
        { code: 'plain_transfer_within', params: { gas: '1000000' } },
        { code: 'plain_transfer_with', params: { gas: '21000' } },
      ],
    })
  })

  test.each<[string, Partial<TransactionSerializable>, string[]]>([
    ['another chain', { chainId: 1 }, ['network']],
    ['another recipient', { to: evmStranger.address }, ['recipient']],
    ['one wei more', { value: evmIntent.amountAtomic + 1n }, ['amount']],
    ['one wei less', { value: evmIntent.amountAtomic - 1n }, ['amount']],
    ['data', { data: '0x00' }, ['asset', 'instructions']],
    [
      'an approval in the place of a payment',
      { data: `0x095ea7b3${'ff'.repeat(64)}`, value: 0n },
      ['amount', 'asset', 'instructions'],
    ],
    ['a fee drained by the gas price', { maxFeePerGas: 10n ** 15n }, ['fee']],
    [
      'a fee one wei above the cap',
      { maxFeePerGas: evmIntent.maxFeeAtomic / 21_000n + 1n },
      ['fee'],
    ],
    ['a fee drained by gas', { gas: 30_000_000n }, ['fee', 'instructions']],
    ['less gas than any transfer takes', { gas: 20_999n }, ['instructions']],
  ])('blocks %s', (_, change, fails) => {
    const result = match(change)
    expect(result.ok).toBe(false)
    expect(failing(result)).toEqual(fails)
  })

  test('blocks what it cannot read', () => {
    expect(matchTransaction(evmIntent, new Uint8Array())).toMatchObject({
      ok: false,
      rows: [
        {
          field: 'instructions',
          ok: false,
          got: { code: 'unreadable', params: { problem: fact('not_eip1559') } },
        },
      ],
    })
  })

  test('holds at the highest gas and at the fee cap, and for no amount at all never', () => {
    const cheap = { gas: 1_000_000n, maxFeePerGas: 1_000_000_000n }
    expect(failing(match(cheap))).toEqual([])
    expect(
      failing(match({ ...cheap, gas: 1_000_001n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })),
    ).toEqual(['instructions'])
    const nothing = hexToBytes(serializeTransaction({ ...fields, value: 0n }))
    expect(failing(matchTransaction({ ...evmIntent, amountAtomic: 0n }, nothing))).toEqual([
      'amount',
    ])
  })

  test('the currency of the chain has one address, and no token has it', () => {
    const asset = { ...evmIntent.asset, address: evmStranger.address }
    expect(failing(matchTransaction({ ...evmIntent, asset }, evmReviewed))).toEqual(['asset'])
    const { address } = evmIntent.asset
    const call = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [evmIntent.recipient as Hex, evmIntent.amountAtomic],
    })
    const bytes = serializeTransaction({ ...fields, to: address as Hex, value: 0n, data: call })
    expect(
      failing(
        matchTransaction(
          { ...evmIntent, asset: { ...evmIntent.asset, native: false } },
          hexToBytes(bytes),
        ),
      ),
    ).toEqual(['asset'])
  })

  test.each([
    [
      'a token',
      {
        asset: { ...evmIntent.asset, native: false, address: evmStranger.address, symbol: 'USDC' },
      },
    ],
    ['another network', { network: 'eip155:1' }],
    ['Solana', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
    ['nothing', { amountAtomic: 0n }],
    ['the sender itself', { sender: evmIntent.recipient }],
    ['an address that is not in its normal form', { recipient: evmIntent.recipient.toLowerCase() }],
  ])('an intent to pay %s never holds', (_, change) => {
    expect(matchTransaction({ ...evmIntent, ...change }, evmReviewed).ok).toBe(false)
  })

  test('takes signed bytes only with the signature of the sender', async () => {
    expect(matchTransaction(evmIntent, hexToBytes(await evmPayer.signTransaction(fields))).ok).toBe(
      true,
    )
    expect(
      failing(matchTransaction(evmIntent, hexToBytes(await evmStranger.signTransaction(fields)))),
    ).toEqual(['sender', 'feePayer', 'signers'])
  })
})

describe('the digest', () => {
  const digestOf = (change: Partial<TransactionSerializable>) => match(change).digest

  test('stays when a rebuild changes nonce and fees below the cap', () => {
    expect(digestOf({ nonce: 8, maxFeePerGas: 4_000_000_000n, gas: 22_000n })).toBe(
      matchTransaction(evmIntent, evmReviewed).digest,
    )
  })

  test('changes with everything that matters', () => {
    const changes: Partial<TransactionSerializable>[] = [
      {},
      { chainId: 1 },
      { to: evmStranger.address },
      { value: 1n },
      { data: '0x00' },
      { maxFeePerGas: 10n ** 15n },
    ]
    const digests = changes.map(digestOf)
    const otherCap = matchTransaction(
      { ...evmIntent, maxFeeAtomic: evmIntent.maxFeeAtomic + 1n },
      evmReviewed,
    ).digest
    const otherSender = matchTransaction(
      { ...evmIntent, sender: evmStranger.address },
      evmReviewed,
    ).digest
    const unread = [new Uint8Array(), Uint8Array.of(1)].map(
      (bytes) => matchTransaction(evmIntent, bytes).digest,
    )
    expect(new Set([...digests, otherCap, otherSender, ...unread]).size).toBe(10)
  })
})

describe('compareSigned', () => {
  const compare = async (change: Partial<typeof fields>, account = evmPayer) =>
    compareSigned(
      evmIntent,
      evmReviewed,
      hexToBytes(await account.signTransaction({ ...fields, ...change })),
    )

  test('holds for the very transaction that was shown, under the same digest', async () => {
    const result = await compare({})
    expect(failing(result)).toEqual([])
    expect(result.digest).toBe(matchTransaction(evmIntent, evmReviewed).digest)
  })

  test('refuses everything else', async () => {
    expect(failing(await compare({}, evmStranger))).toContain('signers')
    expect(failing(await compare({ nonce: 8 }))).toEqual(['expiry'])
    expect(failing(await compare({ maxFeePerGas: 4_000_000_000n }))).toEqual(['fee'])
    expect(failing(await compare({ maxPriorityFeePerGas: 2n }))).toEqual(['fee'])
    expect(failing(await compare({ gas: 21_001n }))).toEqual(['fee'])
    expect(failing(await compare({ to: evmStranger.address }))).toContain('recipient')
    expect(failing(compareSigned(evmIntent, evmReviewed, evmReviewed))).toEqual(['signers'])
    expect(compareSigned(evmIntent, new Uint8Array(), evmReviewed).ok).toBe(false)
    expect(compareSigned(evmIntent, evmReviewed, new Uint8Array()).ok).toBe(false)
  })

  test.each<[string, Partial<TransactionSerializable>]>([
    ['of another recipient', { to: evmStranger.address }],
    ['of another chain', { chainId: 1 }],
    ['of another amount', { value: 1n }],
    ['with data', { data: '0x00' }],
  ])(
    'refuses a transaction that fits the intent where the reviewed one was %s',
    async (_, change) => {
      const other = hexToBytes(
        serializeTransaction({ ...fields, ...change } as TransactionSerializable),
      )
      const signed = hexToBytes(await evmPayer.signTransaction(fields))
      expect(failing(compareSigned(evmIntent, other, signed))).toEqual(['instructions'])
    },
  )
})

describe('compareLanded', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const transaction: EvmChainTransaction = {
    hash,
    from: evmPayer.address.toLowerCase(),
    to: evmIntent.recipient.toLowerCase(),
    value: evmIntent.amountAtomic,
    input: '0x',
    nonce: 7,
    gas: 21_000n,
    type: 'eip1559',
    chainId: 31337,
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 1n,
  }
  const receipt: ChainReceipt = {
    transactionHash: hash,
    status: 'success',
    blockNumber: 12n,
    blockHash: `0x${'cd'.repeat(32)}`,
    gasUsed: 21_000n,
    effectiveGasPrice: 2n,
    logs: [],
  }

  function compare(change: Partial<EvmChainTransaction>, outcome: Partial<ChainReceipt> = {}) {
    const landed = decodeLanded({ ...transaction, ...change }, { ...receipt, ...outcome })
    return landed.ok ? compareLanded(evmIntent, landed) : landed
  }

  test('holds for the payment, whatever fee and nonce the wallet chose', () => {
    for (const change of [
      {},
      { nonce: 99, maxFeePerGas: 10n ** 18n, gas: 90_000n },
      { type: 'legacy', maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 5n },
    ]) {
      const result = compare(change)
      expect(result).toMatchObject({
        ok: true,
        digest: matchTransaction(evmIntent, evmReviewed).digest,
      })
    }
  })

  test('reads the facts of the block', () => {
    expect(decodeLanded(transaction, receipt)).toMatchObject({
      ok: true,
      succeeded: true,
      blockHeight: 12,
      feeAtomic: 42_000n,
      sender: evmPayer.address,
      transfer: {
        sender: evmPayer.address,
        recipient: evmIntent.recipient,
        amountAtomic: evmIntent.amountAtomic,
      },
    })
  })

  test.each<[string, Partial<EvmChainTransaction>, Partial<ChainReceipt>, string[]]>([
    ['that reverted', {}, { status: 'reverted' }, ['instructions']],
    ['of another sender', { from: evmStranger.address }, {}, ['sender', 'feePayer', 'signers']],
    ['to another recipient', { to: evmStranger.address }, {}, ['recipient']],
    ['of another amount', { value: 1n }, {}, ['amount']],
    ['with data', { input: '0x00' }, {}, ['asset', 'instructions']],
    ['on another chain', { chainId: 1 }, {}, ['network']],
  ])('refuses a transaction %s', (_, change, outcome, fails) => {
    const result = compare(change, outcome)
    expect('rows' in result && failing(result)).toEqual(fails)
  })

  test.each<[string, Partial<EvmChainTransaction>, Partial<ChainReceipt>]>([
    ['type 3', { type: 'eip4844' }, {}],
    ['type 4', { type: 'eip7702' }, {}],
    ['a contract creation', { to: null }, {}],
    ['no chain', { chainId: undefined }, {}],
    ['no fee', { maxFeePerGas: undefined, gasPrice: undefined }, {}],
    ['a recipient that is none', { to: '0x12' }, {}],
    ['the receipt of another', {}, { transactionHash: `0x${'00'.repeat(32)}` }],
  ])('does not read %s', (_, change, outcome) => {
    expect(compare(change, outcome)).toMatchObject({
      ok: false,
      problem: { code: expect.any(String) },
    })
  })
})
