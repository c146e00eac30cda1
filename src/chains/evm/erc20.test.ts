import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  hexToBytes,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, networkFact } from '#contract/facts.ts'
import { evmFacts, evmIntent, evmPayer, evmStranger, failing } from '#testing/chain-payments.ts'
import { buildPayment } from './build.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeTransaction } from './decode.ts'
import type { ChainLog } from './erc20.ts'
import { decodeLanded, type ChainReceipt, type EvmChainTransaction } from './landed.ts'
import { matchTransaction } from './match.ts'

const USDC = {
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const intent = { ...evmIntent, asset: USDC, amountAtomic: 1_500_000n }
const { sender, recipient, amountAtomic } = intent
const facts = { ...evmFacts, gas: 65_000n }
const call = (to: string, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, amount] })
const fields = {
  type: 'eip1559',
  chainId: 31337,
  to: USDC.address as Hex,
  value: 0n,
  data: call(recipient, amountAtomic),
  ...facts,
} as const
const reviewed = buildPayment({ ...intent, ...facts })
const match = (change: Partial<TransactionSerializable>) =>
  matchTransaction(
    intent,
    hexToBytes(serializeTransaction({ ...fields, ...change } as TransactionSerializable)),
  )

test('the built bytes are those viem writes, with the calldata byte by byte', () => {
  expect(reviewed).toEqual(hexToBytes(serializeTransaction(fields)))
  expect(decodeTransaction(reviewed)).toMatchObject({
    to: USDC.address,
    valueAtomic: 0n,
    data: `0xa9059cbb000000000000000000000000${recipient.slice(2).toLowerCase()}${'0'.repeat(58)}16e360`,
    transfer: {
      sender: null,
      recipient,
      asset: USDC.address,
      amountAtomic: 1_500_000n,
      memo: null,
    },
  })
})

const both = <F>(fact: F) => [fact, fact]

test('the steps call a known token by its name, and an unknown one by its address', () => {
  const stepOf = (tokens: (typeof USDC)[]) => {
    const decoded = decodeTransaction(reviewed, evmIntent.asset, tokens)
    return decoded.ok ? decoded.steps[2] : undefined
  }
  expect(stepOf([USDC])).toEqual({
    kind: 'token_transfer',
    facts: {
      to: addressFact(recipient),
      amount: amountFact(1_500_000n, USDC),
      token: addressFact(USDC.address),
    },
  })
  expect(stepOf([])).toEqual({
    kind: 'token_transfer',
    facts: {
      to: addressFact(recipient),
      amount: { code: 'smallest_units', params: { amountAtomic: '1500000' } },
      token: addressFact(USDC.address),
    },
  })
})

test('a token is not paid to its own contract', () => {
  expect(() => buildPayment({ ...intent, recipient: USDC.address, ...facts })).toThrow(
    'own contract',
  )
  expect(
    failing(
      matchTransaction(
        { ...intent, recipient: USDC.address },
        hexToBytes(serializeTransaction({ ...fields, data: call(USDC.address, amountAtomic) })),
      ),
    ),
  ).toEqual(['recipient'])
})

describe('matchTransaction', () => {
  test('holds for the payment that was asked for, with both values of every property as facts', () => {
    const { ok, rows } = matchTransaction(intent, reviewed)
    expect(ok).toBe(true)
    expect(
      Object.fromEntries(rows.map(({ field, expected, got }) => [field, [expected, got]])),
    ).toEqual({
      network: both(networkFact('eip155:31337')),
      sender: both(addressFact(sender)),
      recipient: both(addressFact(recipient)),
      amount: both(amountFact(1_500_000n, USDC)),
      asset: both({
        code: 'token',
        params: { address: USDC.address, symbol: 'USDC', token2022: false },
      }),
      fee: [
        { code: 'at_most', params: moneyOf('1000000000000000', evmIntent.asset) },
        { code: 'at_most', params: moneyOf('195000000000000', evmIntent.asset) },
      ],
      feePayer: both(addressFact(sender)),
      signers: both(addressFact(sender)),
      expiry: [fact('until_nonce_used'), { code: 'nonce', params: { nonce: 7 } }],
      instructions: [
        { code: 'token_transfer_within', params: { gas: '1000000' } },
        { code: 'token_transfer_with', params: { gas: '65000' } },
      ],
    })
  })

  test('tells the fee in the currency of the network', () => {
    const currency = { ...evmIntent.asset, symbol: 'POL' }
    expect(matchTransaction({ ...intent, currency }, reviewed).rows).toContainEqual(
      expect.objectContaining({
        field: 'fee',
        got: { code: 'at_most', params: moneyOf('195000000000000', currency) },
      }),
    )
  })

  const padded = (word: string) => word.padStart(64, '0')
  test.each<[string, Partial<TransactionSerializable>, string[]]>([
    ['another recipient', { data: call(evmStranger.address, amountAtomic) }, ['recipient']],
    ['one unit more', { data: call(recipient, amountAtomic + 1n) }, ['amount']],
    ['one unit less', { data: call(recipient, amountAtomic - 1n) }, ['amount']],
    ['nothing', { data: call(recipient, 0n) }, ['amount']],
    ['another token', { to: evmStranger.address }, ['amount', 'asset']],
    ['value beside it', { value: 1n }, ['recipient', 'amount', 'asset', 'instructions']],
    [
      'ether in the place of the token',
      { to: recipient as Hex, value: amountAtomic, data: '0x' },
      ['amount', 'asset', 'instructions'],
    ],
    [
      'a byte after the call',
      { data: `${call(recipient, amountAtomic)}00` },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'a byte less',
      { data: call(recipient, amountAtomic).slice(0, -2) as Hex },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'dirt before the address',
      { data: `0xa9059cbb${'1'.padEnd(24, '0')}${recipient.slice(2)}${padded('16e360')}` },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'an approval',
      { data: `0x095ea7b3${padded(recipient.slice(2))}${padded('16e360')}` },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'a transfer out of another account',
      {
        data: `0x23b872dd${padded(sender.slice(2))}${padded(recipient.slice(2))}${padded('16e360')}`,
      },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'a permit',
      { data: `0xd505accf${'00'.repeat(224)}` },
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    ['a drained fee', { maxFeePerGas: 10n ** 15n }, ['fee']],
    ['drained gas', { gas: 30_000_000n }, ['fee', 'instructions']],
    ['another chain', { chainId: 1 }, ['network']],
  ])('blocks %s', (_, change, fails) => {
    const result = match(change)
    expect(result.ok).toBe(false)
    expect(failing(result)).toEqual(fails)
  })

  test('names a call that lets somebody take tokens later', () => {
    const { rows } = match({ data: `0x095ea7b3${'00'.repeat(64)}` })
    expect(rows.find(({ field }) => field === 'instructions')?.got).toEqual({
      code: 'contract_call',
      params: { selector: '0x095ea7b3', call: 'approve', bytes: 68 },
    })
  })

  test('a payment in ether is not paid in a token, whatever the bytes say', () => {
    expect(failing(matchTransaction(evmIntent, reviewed))).toEqual([
      'recipient',
      'amount',
      'asset',
      'instructions',
    ])
  })

  test('the digest changes with recipient, amount and token, not with nonce and fees below the cap', () => {
    const digest = match({}).digest
    expect(match({ nonce: 8, gas: 70_000n }).digest).toBe(digest)
    const others = [
      { data: call(evmStranger.address, amountAtomic) },
      { data: call(recipient, 1n) },
      { to: evmStranger.address },
      { value: 1n },
      { chainId: 1 },
    ]
    expect(new Set([digest, ...others.map((change) => match(change).digest)]).size).toBe(
      others.length + 1,
    )
  })
})

test('what the wallet signed is the token transfer that was reviewed, or it is refused', async () => {
  const signed = async (change = {}) =>
    hexToBytes(await evmPayer.signTransaction({ ...fields, ...change }))
  expect(compareSigned(intent, reviewed, await signed()).ok).toBe(true)
  expect(
    failing(
      compareSigned(
        intent,
        reviewed,
        await signed({ data: call(evmStranger.address, amountAtomic) }),
      ),
    ),
  ).toEqual(['recipient', 'instructions'])
  expect(failing(compareSigned(intent, reviewed, await signed({ gas: 65_001n })))).toEqual(['fee'])
})

describe('compareLanded', () => {
  const log = (from: string, to: string, value: bigint, address = USDC.address): ChainLog => ({
    address: address.toLowerCase(),
    topics: encodeEventTopics({
      abi: erc20Abi,
      eventName: 'Transfer',
      args: { from: from as Hex, to: to as Hex },
    }) as string[],
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  })
  const hash = `0x${'ab'.repeat(32)}`
  const transaction: EvmChainTransaction = {
    hash,
    from: sender,
    to: USDC.address,
    value: 0n,
    input: fields.data,
    nonce: 7,
    gas: 65_000n,
    type: 'eip1559',
    chainId: 31337,
    maxFeePerGas: 3n,
  }
  const receipt: ChainReceipt = {
    transactionHash: hash,
    status: 'success',
    blockNumber: 12n,
    blockHash: hash,
    gasUsed: 45_000n,
    effectiveGasPrice: 2n,
    logs: [log(sender, recipient, amountAtomic)],
  }
  const compare = (logs: readonly ChainLog[], change: Partial<ChainReceipt> = {}) => {
    const landed = decodeLanded(transaction, { ...receipt, logs, ...change })
    if (!landed.ok) throw new Error(landed.problem.code)
    return compareLanded(intent, landed)
  }
  const zero = `0x${'0'.repeat(40)}`

  test('holds when the token tells of exactly this transfer', () => {
    expect(compare(receipt.logs)).toMatchObject({ ok: true, digest: match({}).digest })
  })

  test('other events take nothing away: another contract’s, an approval, interest that the token mints to either', () => {
    const approval = {
      ...log(sender, recipient, 0n),
      topics: [`0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925`],
    }
    expect(
      compare([
        log(sender, evmStranger.address, 5n, evmStranger.address),
        approval,
        log(zero, sender, 3n),
        ...receipt.logs,
        log(zero, recipient, 4n),
      ]).ok,
    ).toBe(true)
  })

  test.each<[string, readonly ChainLog[]]>([
    ['takes a fee of zero from the payer', [log(sender, evmStranger.address, 0n)]],
    ['takes a fee of zero from the recipient', [log(recipient, zero, 0n)]],
    ['sees its recipient pass on all of it', [log(recipient, evmStranger.address, amountAtomic)]],
    [
      'sees its recipient pass on all that it has, in parts',
      [log(recipient, evmStranger.address, amountAtomic), log(recipient, USDC.address, 9n)],
    ],
  ])('holds where the token %s', (_, more) => {
    expect(compare([...receipt.logs, ...more]).ok).toBe(true)
    expect(compare([...more, ...receipt.logs]).ok).toBe(true)
  })

  test.each<[string, readonly ChainLog[], Partial<ChainReceipt>, string[]]>([
    [
      'whose recipient sends it back',
      [...receipt.logs, log(recipient, sender, amountAtomic)],
      {},
      ['amount'],
    ],
    ['that moved zero', [log(sender, recipient, 0n)], {}, ['amount']],
    ['that told nothing', [], {}, ['amount']],
    [
      'that kept a part',
      [log(sender, recipient, amountAtomic - 15_000n), log(sender, evmStranger.address, 15_000n)],
      {},
      ['amount'],
    ],
    [
      'that took a part on top',
      [...receipt.logs, log(sender, evmStranger.address, 1n)],
      {},
      ['amount'],
    ],
    [
      'that took a part from the recipient',
      [...receipt.logs, log(recipient, zero, 1n)],
      {},
      ['amount'],
    ],
    ['that paid twice', [...receipt.logs, ...receipt.logs], {}, ['amount']],
    ['that paid another', [log(sender, evmStranger.address, amountAtomic)], {}, ['amount']],
    [
      'whose event came from another contract',
      [log(sender, recipient, amountAtomic, evmStranger.address)],
      {},
      ['amount'],
    ],
    [
      'whose event has another shape',
      [{ ...log(sender, recipient, amountAtomic), data: '0x' }],
      {},
      ['amount'],
    ],
    ['that reverted', [], { status: 'reverted' }, ['instructions']],
  ])('refuses a transaction of a token %s', (_, logs, change, fails) => {
    expect(failing(compare(logs, change))).toEqual(fails)
  })

  test('tells what arrived instead', () => {
    const { rows } = compare([
      log(sender, recipient, 1_485_000n),
      log(sender, evmStranger.address, 15_000n),
      log(evmStranger.address, recipient, 7n),
    ])
    expect(rows.find(({ field }) => field === 'amount')?.got).toEqual({
      code: 'moved_by_token',
      params: moneyOf(1_485_000n, USDC),
    })
  })

  test('tells what is left where a part was taken from the recipient', () => {
    const { rows } = compare([...receipt.logs, log(recipient, zero, 15_000n)])
    expect(rows.find(({ field }) => field === 'amount')?.got).toEqual({
      code: 'moved_by_token',
      params: moneyOf(amountAtomic - 15_000n, USDC),
    })
  })

  test('a rollup’s charge for the data is part of the fee', () => {
    expect(decodeLanded(transaction, { ...receipt, l1Fee: '0x10' })).toMatchObject({
      feeAtomic: 90_016n,
    })
  })
})
