import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, networkFact, textFact } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaReviewed,
  solanaStranger,
} from '#testing/chain-payments.ts'
import { buildPayment } from './build.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeTransaction } from './decode.ts'
import { decodeLanded, type SolanaChainTransaction } from './landed.ts'
import { matchTransaction } from './match.ts'
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, MEMO_V1_PROGRAM } from './programs.ts'

const payer = solanaPayer.publicKey
const stranger = solanaStranger.publicKey
const recipient = new PublicKey(solanaIntent.recipient)
const parts = {
  limit: ComputeBudgetProgram.setComputeUnitLimit({ units: solanaFacts.unitLimit }),
  price: ComputeBudgetProgram.setComputeUnitPrice({
    microLamports: solanaFacts.unitPriceMicroLamports,
  }),
  transfer: SystemProgram.transfer({
    fromPubkey: payer,
    toPubkey: recipient,
    lamports: solanaIntent.amountAtomic,
  }),
  memo: memo(solanaIntent.paymentId),
}
const order = [parts.limit, parts.price, parts.transfer, parts.memo]

function memo(text: string, signers: PublicKey[] = [], program = MEMO_PROGRAM) {
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: signers.map((pubkey) => ({ pubkey, isSigner: true, isWritable: false })),
    data: Buffer.from(text),
  })
}

function guard(data = [6, 1, 2, 3], accounts: PublicKey[] = [payer]) {
  return new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM),
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
    data: Buffer.from(data),
  })
}

function compile(
  instructions: TransactionInstruction[],
  { feePayer = payer, blockhash = solanaFacts.blockhash, legacy = false } = {},
) {
  const message = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: blockhash,
    instructions,
  })
  return new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(),
  )
}

function sign(transaction: VersionedTransaction, ...signers: Keypair[]): Uint8Array {
  transaction.sign(signers)
  return transaction.serialize()
}

const match = (instructions: TransactionInstruction[], options = {}) =>
  matchTransaction(solanaIntent, compile(instructions).serialize(), options)
const replace = (part: keyof typeof parts, ...by: TransactionInstruction[]) =>
  order.flatMap((instruction) => (instruction === parts[part] ? by : [instruction]))

const both = <F>(fact: F) => [fact, fact]

describe('matchTransaction', () => {
  test('holds for the payment that was asked for, with both values of every property as facts', () => {
    const { ok, rows } = matchTransaction(solanaIntent, solanaReviewed, { blockhashKnown: true })
    expect(ok).toBe(true)
    expect(
      Object.fromEntries(rows.map(({ field, expected, got }) => [field, [expected, got]])),
    ).toEqual({
      network: both(networkFact(solanaIntent.network)),
      sender: both(addressFact(solanaIntent.sender)),
      recipient: both(addressFact(solanaIntent.recipient)),
      amount: both(amountFact(100_000_000n, NATIVE_SOL)),
      asset: both({ code: 'currency', params: { symbol: 'SOL' } }),
      fee: [
        { code: 'at_most', params: moneyOf(500_000n, NATIVE_SOL) },
        { code: 'at_most', params: moneyOf(6_500n, NATIVE_SOL) },
      ],
      feePayer: both(addressFact(solanaIntent.sender)),
      signers: both(addressFact(solanaIntent.sender)),
      memo: both(textFact(solanaIntent.paymentId)),
      expiry: [
        fact('recent_blockhash'),
        { code: 'blockhash', params: { blockhash: solanaFacts.blockhash } },
      ],
      instructions: [
        {
          code: 'list',
          params: {
            facts: [
              fact('compute_limit'),
              fact('compute_price'),
              fact('one_transfer'),
              fact('one_memo'),
            ],
          },
        },
        {
          code: 'list',
          params: {
            facts: [fact('compute_limit'), fact('compute_price'), fact('transfer'), fact('memo')],
          },
        },
      ],
    })
  })

  test('holds for the same payment in the older format, in another order, and under the older memo program', () => {
    expect(matchTransaction(solanaIntent, compile(order, { legacy: true }).serialize()).ok).toBe(
      true,
    )
    expect(match(order.toReversed()).ok).toBe(true)
    expect(match(replace('memo', memo(solanaIntent.paymentId, [], MEMO_V1_PROGRAM))).ok).toBe(true)
    expect(match(replace('memo', memo(solanaIntent.paymentId, [payer]))).ok).toBe(true)
  })

  const transfer = (to: PublicKey, lamports: bigint, from = payer) =>
    SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })
  const attacks: [string, TransactionInstruction[], string[]][] = [
    [
      'a second transfer',
      [...order, transfer(stranger, 1n)],
      ['recipient', 'amount', 'asset', 'sender'],
    ],
    [
      'the transfer split in two',
      [
        ...replace(
          'transfer',
          transfer(recipient, 1n),
          transfer(recipient, solanaIntent.amountAtomic - 1n),
        ),
      ],
      ['sender', 'recipient', 'amount', 'asset'],
    ],
    ['no transfer', replace('transfer'), ['sender', 'recipient', 'amount', 'asset']],
    [
      'another recipient',
      replace('transfer', transfer(stranger, solanaIntent.amountAtomic)),
      ['recipient'],
    ],
    [
      'one lamport more',
      replace('transfer', transfer(recipient, solanaIntent.amountAtomic + 1n)),
      ['amount'],
    ],
    [
      'one lamport less',
      replace('transfer', transfer(recipient, solanaIntent.amountAtomic - 1n)),
      ['amount'],
    ],
    [
      'the money of another account',
      replace('transfer', transfer(recipient, solanaIntent.amountAtomic, stranger)),
      ['sender', 'signers'],
    ],
    [
      'an extra signer',
      replace('memo', memo(solanaIntent.paymentId, [stranger])),
      ['signers', 'memo'],
    ],
    [
      'the payer twice as a signer of the memo',
      replace('memo', memo(solanaIntent.paymentId, [payer, payer])),
      ['memo'],
    ],
    ['the memo of another payment', replace('memo', memo(`pay_${'4'.repeat(22)}`)), ['memo']],
    ['a memo with a tail', replace('memo', memo(`${solanaIntent.paymentId} `)), ['memo']],
    [
      'a memo with a byte order mark',
      replace('memo', memo(`\ufeff${solanaIntent.paymentId}`)),
      ['memo'],
    ],
    ['a second memo', [...order, memo('more')], ['memo']],
    ['no memo', replace('memo'), ['memo']],
    [
      'units above the cap',
      replace('limit', ComputeBudgetProgram.setComputeUnitLimit({ units: 60_001 })),
      ['fee'],
    ],
    [
      'a fee drained by the price',
      replace('price', ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 900_000_000n })),
      ['fee'],
    ],
    [
      'a price above the cap',
      [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
        ...replace(
          'price',
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_001n }),
        ).slice(1),
      ],
      ['fee'],
    ],
    ['no limit', replace('limit'), ['fee']],
    ['no price', replace('price'), ['fee']],
    ['two prices', [...order, parts.price], ['fee']],
    [
      'a durable nonce',
      [SystemProgram.nonceAdvance({ noncePubkey: stranger, authorizedPubkey: payer }), ...order],
      ['expiry', 'instructions'],
    ],
    [
      'an account assigned to a program',
      [...order, SystemProgram.assign({ accountPubkey: payer, programId: stranger })],
      ['instructions'],
    ],
    [
      'an account created',
      [
        ...order,
        SystemProgram.createAccount({
          fromPubkey: payer,
          newAccountPubkey: stranger,
          lamports: 1,
          space: 0,
          programId: stranger,
        }),
      ],
      ['signers', 'instructions'],
    ],
    [
      'another program',
      [
        ...order,
        new TransactionInstruction({ programId: stranger, keys: [], data: Buffer.from([]) }),
      ],
      ['instructions'],
    ],
    ['a wallet guard before a wallet saw it', [...order, guard()], ['instructions']],
  ]
  test.each(attacks)('blocks %s', (_, instructions, fails) => {
    const result = match(instructions)
    expect(result.ok).toBe(false)
    expect(failing(result).toSorted()).toEqual(fails.toSorted())
  })

  test('blocks another fee payer', () => {
    expect(
      failing(matchTransaction(solanaIntent, compile(order, { feePayer: stranger }).serialize())),
    ).toEqual(['feePayer', 'signers'])
  })

  test('blocks a recipient from a lookup table, whatever the table says', () => {
    const state = {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [recipient],
    }
    const message = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: solanaFacts.blockhash,
      instructions: order,
    })
    const bytes = new VersionedTransaction(
      message.compileToV0Message([new AddressLookupTableAccount({ key: stranger, state })]),
    ).serialize()
    expect(matchTransaction(solanaIntent, bytes)).toMatchObject({
      ok: false,
      rows: [
        {
          got: {
            code: 'unreadable',
            params: { problem: fact('lookup_table') },
          },
        },
      ],
    })
  })

  test('blocks an account that is there for no reason, and a program that could be written', () => {
    const decoded = compile(order)
    decoded.message.staticAccountKeys.push(stranger)
    decoded.message.header.numReadonlyUnsignedAccounts++
    expect(failing(matchTransaction(solanaIntent, decoded.serialize()))).toEqual(['instructions'])
    const writable = compile(order)
    writable.message.header.numReadonlyUnsignedAccounts--
    expect(failing(matchTransaction(solanaIntent, writable.serialize()))).toEqual(['instructions'])
    const readonly = compile(order)
    readonly.message.header.numReadonlyUnsignedAccounts++
    expect(failing(matchTransaction(solanaIntent, readonly.serialize()))).toEqual(['instructions'])
  })

  test('blocks a payment of nothing, and one to the payer itself', () => {
    const nothing = compile(replace('transfer', transfer(recipient, 0n))).serialize()
    expect(failing(matchTransaction({ ...solanaIntent, amountAtomic: 0n }, nothing))).toEqual([
      'amount',
    ])
    const own = compile(replace('transfer', transfer(payer, solanaIntent.amountAtomic))).serialize()
    expect(
      failing(matchTransaction({ ...solanaIntent, recipient: solanaIntent.sender }, own)),
    ).toEqual(['recipient'])
  })

  test('holds at the highest price and at the fee cap', () => {
    const highest = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 495 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_000n }),
      parts.transfer,
      parts.memo,
    ]
    const bytes = compile(highest).serialize()
    expect(failing(matchTransaction(solanaIntent, bytes))).toEqual([])
    expect(failing(matchTransaction({ ...solanaIntent, maxFeeAtomic: 499_999n }, bytes))).toEqual([
      'fee',
    ])
  })

  test('blocks a blockhash that the payer’s network does not know', () => {
    expect(
      failing(matchTransaction(solanaIntent, solanaReviewed, { blockhashKnown: false })),
    ).toEqual(['network'])
  })

  test('takes signed bytes only with the signature of the sender', () => {
    expect(matchTransaction(solanaIntent, sign(compile(order), solanaPayer)).ok).toBe(true)
    expect(failing(matchTransaction(solanaIntent, solanaReviewed.with(10, 1)))).toEqual(['signers'])
    const own = replace('transfer', transfer(recipient, solanaIntent.amountAtomic, stranger))
    const foreign = sign(compile(own, { feePayer: stranger }), solanaStranger)
    expect(failing(matchTransaction(solanaIntent, foreign))).toEqual([
      'sender',
      'feePayer',
      'signers',
    ])
  })

  test.each([
    [
      'a token',
      {
        asset: {
          ...solanaIntent.asset,
          native: false,
          address: stranger.toBase58(),
          symbol: 'USDC',
        },
      },
    ],
    ['EVM', { network: 'eip155:1' }],
    ['nothing', { amountAtomic: 0n }],
    ['another sender', { sender: stranger.toBase58() }],
    ['a lower cap', { maxFeeAtomic: 6499n }],
    [
      'SOL under another address',
      { asset: { ...solanaIntent.asset, address: stranger.toBase58() } },
    ],
  ])('an intent to pay with %s never holds', (_, change) => {
    expect(matchTransaction({ ...solanaIntent, ...change }, solanaReviewed).ok).toBe(false)
  })
})

describe('guards of a wallet', () => {
  test('are allowed up to three, anywhere, where the caller says so', () => {
    expect(match([guard(), ...order, guard(), guard()], { allowGuards: true }).ok).toBe(true)
    expect(
      failing(match([guard(), guard(), ...order, guard(), guard()], { allowGuards: true })),
    ).toEqual(['instructions'])
  })

  test('are not allowed to write, or to be handed the means to pay', () => {
    for (const data of [[0, 1], [1, 1], []])
      expect(failing(match([...order, guard(data)], { allowGuards: true }))).toEqual([
        'instructions',
      ])
    const paying = new TransactionInstruction({
      ...guard(),
      keys: [{ pubkey: SystemProgram.programId, isSigner: false, isWritable: false }],
    })
    expect(failing(match([...order, paying], { allowGuards: true }))).toEqual(['instructions'])
  })
})

describe('the digest', () => {
  const digest = matchTransaction(solanaIntent, solanaReviewed).digest

  test('stays when a rebuild changes the blockhash and a fee below the cap', () => {
    const rebuilt = buildPayment({
      ...solanaIntent,
      blockhash: bs58.encode(new Uint8Array(32).fill(9)),
      unitLimit: 40_000,
      unitPriceMicroLamports: 1n,
    })
    expect(matchTransaction(solanaIntent, rebuilt).digest).toBe(digest)
  })

  test('changes with everything that matters', () => {
    const changed = [
      match([...order, parts.transfer]),
      match(replace('memo', memo('x'))),
      match(replace('memo', memo(solanaIntent.paymentId, [], MEMO_V1_PROGRAM))),
      match(
        replace(
          'transfer',
          SystemProgram.transfer({
            fromPubkey: payer,
            toPubkey: stranger,
            lamports: solanaIntent.amountAtomic,
          }),
        ),
      ),
      match(
        replace(
          'transfer',
          SystemProgram.transfer({ fromPubkey: payer, toPubkey: recipient, lamports: 1 }),
        ),
      ),
      match(
        replace('price', ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 900_000_000n })),
      ),
      matchTransaction(solanaIntent, compile(order, { feePayer: stranger }).serialize()),
      matchTransaction({ ...solanaIntent, maxFeeAtomic: 1n }, solanaReviewed),
      matchTransaction(solanaIntent, new Uint8Array()),
    ].map((result) => result.digest)
    expect(new Set([digest, ...changed]).size).toBe(changed.length + 1)
  })
})

describe('compareSigned', () => {
  const compare = (instructions: TransactionInstruction[], options = {}) =>
    compareSigned(solanaIntent, solanaReviewed, sign(compile(instructions, options), solanaPayer))

  test('holds for what was shown, with up to three guards and a lower compute limit or price, under the same digest', () => {
    const lower = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      parts.transfer,
      parts.memo,
    ]
    for (const instructions of [
      order,
      [guard(), ...order, guard(), guard([16, 0], [recipient, stranger])],
      lower,
    ]) {
      const result = compare(instructions)
      expect(failing(result)).toEqual([])
      expect(result.digest).toBe(matchTransaction(solanaIntent, solanaReviewed).digest)
    }
  })

  test.each<[string, TransactionInstruction[], object, string[]]>([
    ['four guards', [guard(), guard(), ...order, guard(), guard()], {}, ['instructions']],
    [
      'another blockhash',
      order,
      { blockhash: bs58.encode(new Uint8Array(32).fill(9)) },
      ['expiry'],
    ],
    [
      'a higher limit',
      replace('limit', ComputeBudgetProgram.setComputeUnitLimit({ units: 30_001 })),
      {},
      ['fee'],
    ],
    [
      'a higher limit behind a guard',
      [guard(), ...replace('limit', ComputeBudgetProgram.setComputeUnitLimit({ units: 30_001 }))],
      {},
      ['fee'],
    ],
    ['no limit', replace('limit'), {}, ['fee']],
    ['no price', replace('price'), {}, ['fee']],
    [
      'a higher price',
      replace('price', ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_001 })),
      {},
      ['fee'],
    ],
    [
      'another recipient',
      replace(
        'transfer',
        SystemProgram.transfer({
          fromPubkey: payer,
          toPubkey: stranger,
          lamports: solanaIntent.amountAtomic,
        }),
      ),
      {},
      ['recipient', 'instructions'],
    ],
    [
      'a tip for somebody',
      [...order, SystemProgram.transfer({ fromPubkey: payer, toPubkey: stranger, lamports: 1 })],
      {},
      ['sender', 'recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'the older memo program',
      replace('memo', memo(solanaIntent.paymentId, [], MEMO_V1_PROGRAM)),
      {},
      ['instructions'],
    ],
    ['the older format', order, { legacy: true }, ['instructions']],
    ['another order', order.toReversed(), {}, ['instructions']],
  ])('refuses %s', (_, instructions, options, fails) => {
    expect(failing(compare(instructions, options))).toEqual(fails)
  })

  test('refuses a missing signature, one of another message, and the identity as the signer', () => {
    expect(failing(compareSigned(solanaIntent, solanaReviewed, solanaReviewed))).toEqual([
      'signers',
    ])
    const [signature = new Uint8Array()] = VersionedTransaction.deserialize(
      sign(compile([guard(), ...order]), solanaPayer),
    ).signatures
    expect(
      failing(
        compareSigned(
          solanaIntent,
          solanaReviewed,
          Uint8Array.from([1, ...signature, ...solanaReviewed.slice(65)]),
        ),
      ),
    ).toEqual(['signers'])

    const identity = new Uint8Array(32).with(0, 1)
    const intent = { ...solanaIntent, sender: bs58.encode(identity) }
    const reviewed = buildPayment({ ...intent, ...solanaFacts })
    const forged = Uint8Array.from([1, ...identity, ...new Uint8Array(32), ...reviewed.slice(65)])
    expect(failing(compareSigned(intent, reviewed, forged))).toEqual(['signers'])
  })

  test('refuses what cannot be read', () => {
    expect(compareSigned(solanaIntent, new Uint8Array(), solanaReviewed).ok).toBe(false)
    expect(compareSigned(solanaIntent, solanaReviewed, new Uint8Array()).ok).toBe(false)
  })
})

describe('compareLanded', () => {
  function land(
    instructions: TransactionInstruction[],
    meta: SolanaChainTransaction['meta'] = { err: null, fee: 6500 },
  ) {
    const transaction = VersionedTransaction.deserialize(sign(compile(instructions), solanaPayer))
    return decodeLanded({
      slot: 42,
      blockTime: null,
      meta,
      transaction: {
        message: transaction.message,
        signatures: transaction.signatures.map((signature) => bs58.encode(signature)),
      },
    })
  }

  function compare(...args: Parameters<typeof land>) {
    const landed = land(...args)
    if (!landed.ok) throw new Error(landed.problem.code)
    return compareLanded(solanaIntent, landed)
  }

  test('reads the same facts as the bytes do', () => {
    const landed = land(order)
    expect(landed).toMatchObject({
      ...decodeTransaction(sign(compile(order), solanaPayer)),
      succeeded: true,
      blockHeight: 42,
      feeAtomic: 6500n,
    })
  })

  test('holds for the payment, whatever fee the payer signed', () => {
    for (const instructions of [
      order,
      [guard(), ...order],
      replace('price', ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10n ** 12n })),
      replace('limit'),
    ]) {
      expect(compare(instructions)).toMatchObject({
        ok: true,
        digest: matchTransaction(solanaIntent, solanaReviewed).digest,
      })
    }
  })

  test('refuses one that failed, and one that pays something else', () => {
    expect(
      failing(compare(order, { err: { InstructionError: [2, { Custom: 1 }] }, fee: 5000 })),
    ).toEqual(['instructions'])
    expect(failing(compare(replace('memo')))).toEqual(['memo'])
    expect(failing(compare([...order, parts.transfer]))).toContain('amount')
  })

  test('does not read one whose end the node does not tell, or without a signature', () => {
    expect(land(order, null)).toMatchObject({ ok: false })
    const { message } = compile(order)
    const unsigned = {
      slot: 1,
      meta: { err: null, fee: 1 },
      transaction: { message, signatures: [bs58.encode(new Uint8Array(64))] },
    }
    expect(decodeLanded(unsigned)).toEqual({
      ok: false,
      problem: fact('unsigned'),
    })
    expect(
      decodeLanded({ ...unsigned, transaction: { message, signatures: ['0OIl'] } }),
    ).toMatchObject({ ok: false })
  })
})
