import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
} from '@solana/web3.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, networkFact, textFact } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaStranger,
} from '#testing/chain-payments.ts'
import {
  accountOf,
  openAccount,
  TOKEN,
  TOKEN_2022,
  tokenInstruction,
  transferChecked,
} from '#testing/token-instructions.ts'
import { buildPayment } from './build.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeTransaction } from './decode.ts'
import { decodeLanded, type SolanaChainTransaction } from './landed.ts'
import { matchTransaction } from './match.ts'
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'

const payer = solanaPayer.publicKey
const stranger = solanaStranger.publicKey
const recipient = new PublicKey(solanaIntent.recipient)
const mint = new PublicKey('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
const USDC = {
  address: mint.toBase58(),
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const intent = { ...solanaIntent, asset: USDC, amountAtomic: 1_500_000n }
const facts = { ...solanaFacts, unitLimit: 60_000 }
const base = {
  source: accountOf(payer, mint),
  mint,
  destination: accountOf(recipient, mint),
  authority: payer,
  amount: intent.amountAtomic,
  decimals: 6,
}
const parts = {
  limit: ComputeBudgetProgram.setComputeUnitLimit({ units: facts.unitLimit }),
  price: ComputeBudgetProgram.setComputeUnitPrice({ microLamports: facts.unitPriceMicroLamports }),
  open: openAccount({ payer, owner: recipient, mint }),
  memo: memo(intent.paymentId),
  transfer: transferChecked(base),
}
const bare = [parts.limit, parts.price, parts.memo, parts.transfer]
const opening = [parts.limit, parts.price, parts.open, parts.memo, parts.transfer]

function memo(text: string) {
  return new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: [],
    data: Buffer.from(text),
  })
}

function guard(accounts: PublicKey[]) {
  const keys = accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false }))
  return new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM),
    keys,
    data: Buffer.from([6, 1, 2, 3]),
  })
}

function compile(instructions: TransactionInstruction[], feePayer = payer) {
  return new VersionedTransaction(
    new TransactionMessage({
      payerKey: feePayer,
      recentBlockhash: facts.blockhash,
      instructions,
    }).compileToV0Message(),
  )
}

function sign(instructions: TransactionInstruction[], ...signers: Keypair[]): Uint8Array {
  const transaction = compile(instructions)
  transaction.sign(signers)
  return transaction.serialize()
}

const match = (instructions: TransactionInstruction[], options = {}) =>
  matchTransaction(intent, compile(instructions).serialize(), options)
const replace = (part: keyof typeof parts, ...by: TransactionInstruction[]) =>
  opening.flatMap((instruction) => (instruction === parts[part] ? by : [instruction]))
const built = (program: PublicKey, opensAccount: boolean) =>
  buildPayment({ ...intent, ...facts, token: { program: program.toBase58(), opensAccount } })

test('the account of an owner is the one the chain’s own library derives', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.boolean(),
      (owner, of, newer) => {
        const program = newer ? TOKEN_2022 : TOKEN
        const derived = associatedTokenAccount({
          owner: bs58.encode(owner),
          mint: bs58.encode(of),
          program: program.toBase58(),
        })
        expect(derived.address).toBe(
          accountOf(new PublicKey(owner), new PublicKey(of), program).toBase58(),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test.each([
  ['the older program', TOKEN],
  ['Token-2022', TOKEN_2022],
])('the built transaction means what web3.js compiles, under %s', (_, program) => {
  const [source, destination] = [
    accountOf(payer, mint, program),
    accountOf(recipient, mint, program),
  ]
  const transfer = transferChecked({ ...base, source, destination, program })
  for (const opens of [false, true]) {
    const instructions = [
      parts.limit,
      parts.price,
      ...(opens ? [openAccount({ payer, owner: recipient, mint, program })] : []),
      parts.memo,
      transfer,
    ]
    const ours = VersionedTransaction.deserialize(built(program, opens))
    expect(TransactionMessage.decompile(ours.message)).toEqual(
      TransactionMessage.decompile(compile(instructions).message),
    )
    expect(matchTransaction(intent, built(program, opens)).ok).toBe(true)
  }
})

test('the facts name mint, accounts and amount; the owner of an account only where the transaction opens it', () => {
  const [token, destination] = [addressFact(USDC.address), addressFact(base.destination.toBase58())]
  expect(decodeTransaction(built(TOKEN, true), [USDC])).toMatchObject({
    transfer: {
      sender: intent.sender,
      recipient: intent.recipient,
      asset: USDC.address,
      amountAtomic: 1_500_000n,
      memo: intent.paymentId,
    },
    steps: [
      { kind: 'fee_limit' },
      { kind: 'fee_price' },
      {
        kind: 'account_opened',
        facts: {
          owner: addressFact(intent.recipient),
          payer: addressFact(intent.sender),
          token,
          account: destination,
        },
      },
      { kind: 'memo' },
      {
        kind: 'token_transfer',
        facts: {
          from: addressFact(base.source.toBase58()),
          to: destination,
          amount: amountFact(1_500_000n, USDC),
          token,
        },
      },
    ],
  })
  expect(decodeTransaction(built(TOKEN, false))).toMatchObject({
    transfer: { sender: intent.sender, recipient: null, asset: USDC.address },
  })
})

test.each([
  ['without its program', {}],
  [
    'under a program that is none',
    { token: { program: stranger.toBase58(), opensAccount: false } },
  ],
  [
    'to its own mint',
    { recipient: USDC.address, token: { program: TOKEN.toBase58(), opensAccount: false } },
  ],
  [
    'of SOL under a token program',
    { asset: solanaIntent.asset, token: { program: TOKEN.toBase58(), opensAccount: false } },
  ],
])('a token payment is not built %s', (_, change) => {
  expect(() => buildPayment({ ...intent, ...facts, ...change })).toThrow(RangeError)
})

const both = <F>(fact: F) => [fact, fact]

describe('matchTransaction', () => {
  test('holds for the payment that was asked for, with both values of every property as facts', () => {
    const { ok, rows } = matchTransaction(intent, built(TOKEN, true), { blockhashKnown: true })
    expect(ok).toBe(true)
    const head = [fact('compute_limit'), fact('compute_price')]
    expect(
      Object.fromEntries(rows.map(({ field, expected, got }) => [field, [expected, got]])),
    ).toEqual({
      network: both(networkFact(intent.network)),
      sender: both(addressFact(intent.sender)),
      recipient: both(addressFact(intent.recipient)),
      amount: both(amountFact(1_500_000n, USDC)),
      asset: both({
        code: 'token',
        params: { address: USDC.address, symbol: 'USDC', token2022: false },
      }),
      fee: [
        { code: 'at_most', params: moneyOf(500_000n, NATIVE_SOL) },
        { code: 'at_most', params: moneyOf(8_000n, NATIVE_SOL) },
      ],
      rent: both({ code: 'rent_at_most', params: moneyOf(2_735_280n, NATIVE_SOL) }),
      feePayer: both(addressFact(intent.sender)),
      signers: both(addressFact(intent.sender)),
      memo: both(textFact(intent.paymentId)),
      expiry: [
        fact('recent_blockhash'),
        { code: 'blockhash', params: { blockhash: facts.blockhash } },
      ],
      instructions: [
        {
          code: 'list',
          params: {
            facts: [
              ...head,
              fact('one_token_transfer'),
              fact('one_memo'),
              fact('account_opened_if_missing'),
            ],
          },
        },
        {
          code: 'list',
          params: {
            facts: [...head, fact('account_opened'), fact('memo'), fact('token_transfer')],
          },
        },
      ],
    })
    expect(
      matchTransaction(intent, built(TOKEN, false)).rows.find(({ field }) => field === 'rent')?.got,
    ).toEqual(fact('account_exists'))
  })

  const approve = (tag: number) =>
    tokenInstruction(
      [tag, ...Array.from({ length: 8 }, () => 9)],
      [
        { pubkey: base.source, isWritable: true },
        { pubkey: stranger },
        { pubkey: payer, isSigner: true },
      ],
    )
  const attacks: [string, TransactionInstruction[], string[]][] = [
    [
      'another owner’s account',
      replace('transfer', transferChecked({ ...base, destination: accountOf(stranger, mint) })),
      ['recipient', 'rent'],
    ],
    [
      'an account that is nobody’s associated one',
      replace('transfer', transferChecked({ ...base, destination: stranger })),
      ['recipient', 'rent'],
    ],
    [
      'the recipient’s wallet in the place of its account',
      replace('transfer', transferChecked({ ...base, destination: recipient })),
      ['recipient', 'rent'],
    ],
    [
      'the account of the other token program',
      replace(
        'transfer',
        transferChecked({ ...base, destination: accountOf(recipient, mint, TOKEN_2022) }),
      ),
      ['recipient', 'rent'],
    ],
    [
      'another source',
      replace('transfer', transferChecked({ ...base, source: stranger })),
      ['sender'],
    ],
    [
      'another’s tokens by the payer’s authority',
      replace('transfer', transferChecked({ ...base, source: accountOf(stranger, mint) })),
      ['sender'],
    ],
    [
      'one unit more',
      replace('transfer', transferChecked({ ...base, amount: base.amount + 1n })),
      ['amount'],
    ],
    ['other decimals', replace('transfer', transferChecked({ ...base, decimals: 9 })), ['amount']],
    [
      'another mint',
      replace(
        'transfer',
        transferChecked({
          ...base,
          mint: stranger,
          source: accountOf(payer, stranger),
          destination: accountOf(recipient, stranger),
        }),
      ),
      ['asset', 'rent'],
    ],
    [
      'a second transfer',
      [...opening, transferChecked({ ...base, destination: accountOf(stranger, mint) })],
      ['sender', 'recipient', 'amount', 'asset'],
    ],
    [
      'SOL beside it',
      [...opening, SystemProgram.transfer({ fromPubkey: payer, toPubkey: stranger, lamports: 1n })],
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
    [
      'SOL instead of it',
      replace(
        'transfer',
        SystemProgram.transfer({ fromPubkey: payer, toPubkey: recipient, lamports: base.amount }),
      ),
      ['sender', 'amount', 'asset', 'rent', 'instructions'],
    ],
    ['an approval beside it', [...opening, approve(4)], ['instructions']],
    ['a checked approval beside it', [...opening, approve(13)], ['instructions']],
    ['an account given away', [...opening, approve(6)], ['instructions']],
    ['an account closed', [...opening, approve(9)], ['instructions']],
    [
      'an unchecked transfer',
      replace(
        'transfer',
        tokenInstruction(
          [3, ...Array.from({ length: 8 }, () => 1)],
          [
            { pubkey: base.source, isWritable: true },
            { pubkey: base.destination, isWritable: true },
            { pubkey: payer, isSigner: true },
          ],
        ),
      ),
      ['sender', 'recipient', 'amount', 'asset', 'rent', 'instructions'],
    ],
    [
      'a transfer with further accounts',
      replace('transfer', transferChecked({ ...base, more: [stranger] })),
      ['sender', 'recipient', 'amount', 'asset', 'rent', 'instructions'],
    ],
    [
      'another’s account opened',
      replace('open', openAccount({ payer, owner: stranger, mint })),
      ['rent'],
    ],
    [
      'a second account opened',
      [...opening, openAccount({ payer, owner: stranger, mint })],
      ['rent'],
    ],
    [
      'an account of another mint opened',
      replace('open', openAccount({ payer, owner: recipient, mint: stranger })),
      ['rent'],
    ],
    [
      'an account opened that is not the derived one',
      replace('open', openAccount({ payer, owner: recipient, mint, account: stranger })),
      ['instructions'],
    ],
    [
      'an account opened that must not be there yet',
      replace('open', openAccount({ payer, owner: recipient, mint, data: [0] })),
      ['instructions'],
    ],
    ['no memo', replace('memo'), ['memo']],
    ['a guard', [...opening, guard([base.source])], ['instructions']],
    [
      'more units than a token payment takes',
      replace('limit', ComputeBudgetProgram.setComputeUnitLimit({ units: 200_001 })),
      ['fee'],
    ],
  ]
  test.each(attacks)('blocks %s', (_, instructions, fails) => {
    expect(failing(match(instructions)).toSorted()).toEqual(fails.toSorted())
  })

  test('names an approval in the refusal', () => {
    const got = match([...opening, approve(4)]).rows.find(
      ({ field }) => field === 'instructions',
    )?.got
    const named = {
      code: 'token_instruction',
      params: { program: TOKEN.toBase58(), name: 'approve', number: 4 },
    }
    expect(got?.code === 'list' && got.params.facts).toContainEqual(named)
  })

  test('rent paid by another account needs its signature, and is refused', () => {
    expect(
      failing(match(replace('open', openAccount({ payer: stranger, owner: recipient, mint })))),
    ).toEqual(['rent', 'signers'])
  })

  test('what a transfer only reads must not be writable', () => {
    const writable = transferChecked(base)
    if (writable.keys[1]) writable.keys[1].isWritable = true
    expect(failing(match([parts.limit, parts.price, parts.memo, writable]))).toEqual([
      'instructions',
    ])
    const owner = openAccount({ payer, owner: recipient, mint })
    if (owner.keys[2]) owner.keys[2].isWritable = true
    expect(failing(match(replace('open', owner)))).toEqual(['instructions'])
  })

  test('a payment in SOL is not paid in a token, nor beside one', () => {
    const sol = SystemProgram.transfer({
      fromPubkey: payer,
      toPubkey: recipient,
      lamports: solanaIntent.amountAtomic,
    })
    const matchSol = (instructions: TransactionInstruction[]) =>
      failing(matchTransaction(solanaIntent, compile(instructions).serialize()))
    expect(matchSol(bare)).toEqual(['sender', 'recipient', 'amount', 'asset', 'instructions'])
    expect(matchSol([parts.limit, parts.price, sol, parts.memo, parts.transfer])).toEqual([
      'asset',
      'instructions',
    ])
    expect(matchSol([parts.limit, parts.price, sol, parts.memo, parts.open])).toEqual([
      'instructions',
    ])
    expect(matchSol([parts.limit, parts.price, sol, parts.memo])).toEqual([])
  })
})

describe('compareSigned', () => {
  const reviewed = compile(opening).serialize()
  const compare = (instructions: TransactionInstruction[]) =>
    compareSigned(intent, reviewed, sign(instructions, solanaPayer))

  test('takes up to three guards over the accounts of the payment', () => {
    const guards = [guard([base.source]), guard([payer]), guard([base.destination, mint])]
    expect(failing(compare(opening))).toEqual([])
    expect(
      failing(
        compare([
          parts.limit,
          parts.price,
          ...guards.slice(0, 2),
          parts.open,
          parts.memo,
          parts.transfer,
          ...guards.slice(2),
        ]),
      ),
    ).toEqual([])
    expect(failing(compare([...guards, ...opening, guard([payer])]))).toEqual(['instructions'])
  })

  test.each([
    ['the token program', TOKEN],
    ['the program of accounts', new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')],
    ['the System Program', SystemProgram.programId],
  ])('a guard that is handed %s could move something, and is none', (_, program) => {
    expect(failing(compare([...opening, guard([payer, base.source, program])]))).toEqual([
      'instructions',
    ])
  })

  test('takes nothing away and nothing else in', () => {
    expect(failing(compare(bare))).toEqual(['instructions'])
    expect(
      failing(
        compare(
          replace('transfer', transferChecked({ ...base, destination: accountOf(stranger, mint) })),
        ),
      ),
    ).toContain('recipient')
  })
})

describe('compareLanded', () => {
  const transaction = compile(opening)
  transaction.sign([solanaPayer])
  const index = (key: PublicKey) =>
    transaction.message.staticAccountKeys.findIndex((each) => each.equals(key))
  const balance = (key: PublicKey, owner: PublicKey, amount: bigint) => ({
    accountIndex: index(key),
    mint: USDC.address,
    owner: owner.toBase58(),
    uiTokenAmount: { amount: amount.toString() },
  })
  type Meta = NonNullable<SolanaChainTransaction['meta']>
  const meta: Meta = {
    err: null,
    fee: 5000,
    preTokenBalances: [balance(base.source, payer, 9_000_000n)],
    postTokenBalances: [
      balance(base.source, payer, 7_500_000n),
      balance(base.destination, recipient, 1_500_000n),
    ],
  }
  const compare = (change: Partial<Meta>) => {
    const signatures = transaction.signatures.map((signature) => bs58.encode(signature))
    const landed = decodeLanded({
      slot: 9,
      meta: { ...meta, ...change },
      transaction: { message: transaction.message, signatures },
    })
    if (!landed.ok) throw new Error(landed.problem.code)
    return compareLanded(intent, landed)
  }

  test('holds when the balances moved by exactly the amount', () => {
    expect(failing(compare({}))).toEqual([])
    const before = [
      balance(base.source, payer, 1_500_000n),
      balance(base.destination, recipient, 7n),
    ]
    expect(
      failing(
        compare({
          preTokenBalances: before,
          postTokenBalances: [
            balance(base.source, payer, 0n),
            balance(base.destination, recipient, 1_500_007n),
          ],
        }),
      ),
    ).toEqual([])
  })

  const sent = balance(base.source, payer, 7_500_000n)
  test.each<[string, Partial<Meta>, string[]]>([
    [
      'a mint that keeps a part',
      { postTokenBalances: [sent, balance(base.destination, recipient, 1_485_000n)] },
      ['amount'],
    ],
    [
      'an account that was given away',
      { postTokenBalances: [sent, balance(base.destination, stranger, 1_500_000n)] },
      ['amount'],
    ],
    [
      'an account whose owner nobody tells',
      {
        postTokenBalances: [
          sent,
          { ...balance(base.destination, recipient, 1_500_000n), owner: undefined },
        ],
      },
      ['amount'],
    ],
    [
      'a balance that did not move',
      { postTokenBalances: [balance(base.source, payer, 9_000_000n)] },
      ['amount'],
    ],
    [
      'more that left',
      {
        postTokenBalances: [
          balance(base.source, payer, 7_000_000n),
          balance(base.destination, recipient, 1_500_000n),
        ],
      },
      ['amount'],
    ],
    ['no balances at all', { preTokenBalances: null, postTokenBalances: null }, ['amount']],
    ['a failure', { err: { InstructionError: [4, { Custom: 1 }] } }, ['instructions']],
  ])('refuses %s', (_, change, fails) => {
    expect(failing(compare(change))).toEqual(fails)
  })

  test('tells what arrived instead, and on whose account', () => {
    const gotOf = (change: Partial<Meta>) =>
      compare(change).rows.find(({ field }) => field === 'amount')?.got
    const moved = (amount: bigint, owner: PublicKey | null) => ({
      code: 'moved_by_balance',
      params: { ...moneyOf(amount, USDC), owner: owner?.toBase58() ?? null },
    })
    expect(
      gotOf({ postTokenBalances: [sent, balance(base.destination, recipient, 1_485_000n)] }),
    ).toEqual(moved(1_485_000n, recipient))
    expect(
      gotOf({ postTokenBalances: [sent, balance(base.destination, stranger, 1_500_000n)] }),
    ).toEqual(moved(1_500_000n, stranger))
    expect(gotOf({ preTokenBalances: null, postTokenBalances: null })).toEqual(moved(0n, null))
  })
})
