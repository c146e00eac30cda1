import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, countFact, textFact, fact } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  signVersion1,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaReviewed,
} from '#testing/chain-payments.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { buildPayment } from './build.ts'
import { compareSigned } from './compare.ts'
import { decodeExecuted, decodeTransaction } from './decode.ts'
import { decodeLanded, messageBytes } from './landed.ts'
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM } from './programs.ts'

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes))
const payment = fc.record({
  sender: address,
  recipient: address,
  blockhash: address,
  paymentId: fc.stringMatching(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/),
  amountAtomic: fc.bigInt(1n, 2n ** 64n - 1n),
  unitLimit: fc.integer({ min: 1, max: 60_000 }),
  unitPriceMicroLamports: fc.bigInt(0n, 1_000_000_000n),
})

/** The same payment as the Solana library compiles it. */
function compile(input: typeof solanaIntent & typeof solanaFacts) {
  const [payerKey, toPubkey] = [new PublicKey(input.sender), new PublicKey(input.recipient)]
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: input.unitLimit }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: input.unitPriceMicroLamports }),
    SystemProgram.transfer({ fromPubkey: payerKey, toPubkey, lamports: input.amountAtomic }),
    new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: [],
      data: Buffer.from(input.paymentId),
    }),
  ]
  return new TransactionMessage({ payerKey, recentBlockhash: input.blockhash, instructions })
}

const TOO_LARGE = { code: 'too_large', params: { maxBytes: 4096 } } as const

function problemOf(bytes: Uint8Array): DecodeProblem | undefined {
  const decoded = decodeTransaction(bytes)
  return decoded.ok ? undefined : decoded.problem
}

describe('what was built', () => {
  test('is what web3.js compiles, byte for byte, and reads back as what went in', () => {
    fc.assert(
      fc.property(payment, (change) => {
        fc.pre(change.sender !== change.recipient)
        const input = { ...solanaIntent, ...change }
        const bytes = buildPayment(input)
        expect(bytes).toEqual(
          Uint8Array.from(
            new VersionedTransaction(compile(input).compileToV0Message()).serialize(),
          ),
        )
        const {
          sender,
          recipient,
          amountAtomic,
          paymentId,
          blockhash,
          unitLimit,
          unitPriceMicroLamports,
        } = input
        expect(decodeTransaction(bytes)).toMatchObject({
          ok: true,
          form: 'unsigned',
          version: 0,
          feePayer: sender,
          signers: [sender],
          signature: null,
          blockhash,
          transfer: { sender, recipient, amountAtomic, memo: paymentId },
          operations: [
            { kind: 'fee_limit', units: unitLimit },
            { kind: 'fee_price', microLamports: unitPriceMicroLamports },
            { kind: 'transfer' },
            { kind: 'memo', text: paymentId },
          ],
        })
      }),
      { numRuns: 500 },
    )
  })

  test('is told in steps', () => {
    const decoded = decodeTransaction(solanaReviewed)
    expect(decoded.ok && decoded.steps).toEqual([
      { kind: 'fee_limit', facts: { units: countFact(30_000) } },
      {
        kind: 'fee_price',
        facts: { price: { code: 'price_per_unit', params: { microLamports: '50000' } } },
      },
      {
        kind: 'transfer',
        facts: {
          from: addressFact(solanaIntent.sender),
          to: addressFact(solanaIntent.recipient),
          amount: amountFact(100_000_000n, NATIVE_SOL),
        },
      },
      { kind: 'memo', facts: { text: textFact(solanaIntent.paymentId) } },
    ])
  })

  test.each([
    ['another family', { network: 'eip155:1' }],
    ['a token', { asset: { ...solanaIntent.asset, native: false } }],
    ['nothing', { amountAtomic: 0n }],
    ['more than 64 bits', { amountAtomic: 2n ** 64n }],
    ['a payment to the sender', { recipient: solanaIntent.sender }],
    ['a payment to a program', { recipient: SYSTEM_PROGRAM }],
    ['a payment to an EVM address', { recipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }],
    ['too many units', { unitLimit: 60_001 }],
    ['half a unit', { unitLimit: 0.5 }],
    ['a price above the cap', { unitPriceMicroLamports: 1_000_000_001n }],
  ])('is never %s', (_, change) => {
    expect(() => buildPayment({ ...solanaIntent, ...solanaFacts, ...change })).toThrow(RangeError)
  })
})

describe('whatever web3.js writes', () => {
  const meta = fc.record({
    pubkey: address.map((text) => new PublicKey(text)),
    isSigner: fc.boolean(),
    isWritable: fc.boolean(),
  })
  const instruction = fc
    .record({
      programId: address.map((text) => new PublicKey(text)),
      keys: fc.array(meta, { maxLength: 3 }),
      data: fc.uint8Array({ maxLength: 200 }),
    })
    .map(({ data, ...rest }) => new TransactionInstruction({ ...rest, data: Buffer.from(data) }))

  test('reads as the same accounts, roles and data, legacy and v0', () => {
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 4 }), fc.boolean(), (instructions, legacy) => {
        const message = new TransactionMessage({
          payerKey: solanaPayer.publicKey,
          recentBlockhash: solanaFacts.blockhash,
          instructions,
        })
        const compiled = legacy ? message.compileToLegacyMessage() : message.compileToV0Message()
        const bytes = new VersionedTransaction(compiled).serialize()
        fc.pre(bytes.length <= 1232)
        const decoded = decodeTransaction(bytes)
        if (!decoded.ok) throw new Error(decoded.problem.code)
        expect(decoded.version).toBe(legacy ? 'legacy' : 0)
        expect(decoded.message).toEqual(Uint8Array.from(compiled.serialize()))
        expect(
          decoded.accounts.map(({ address: key, signer, writable }) => [key, signer, writable]),
        ).toEqual(
          compiled.staticAccountKeys.map((key, index) => [
            key.toBase58(),
            compiled.isAccountSigner(index),
            isWritable(compiled, index),
          ]),
        )
        expect(decoded.operations).toEqual(
          instructions.map(({ programId, keys, data }) => ({
            kind: 'unknown',
            program: programId.toBase58(),
            accounts: keys.map(({ pubkey }) => pubkey.toBase58()),
            data: Uint8Array.from(data),
          })),
        )
        expect(decoded.transfer).toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  function isWritable(
    {
      header,
      staticAccountKeys,
    }: {
      header: {
        numRequiredSignatures: number
        numReadonlySignedAccounts: number
        numReadonlyUnsignedAccounts: number
      }
      staticAccountKeys: unknown[]
    },
    index: number,
  ) {
    const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header
    return index < numRequiredSignatures
      ? index < numRequiredSignatures - numReadonlySignedAccounts
      : index < staticAccountKeys.length - numReadonlyUnsignedAccounts
  }
})

describe('a transaction of version 1 that has landed', () => {
  const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
  const config = fc.record(
    {
      priorityFeeLamports: fc.bigInt(0n, 2n ** 53n - 1n),
      computeUnitLimit: u32,
      loadedAccountsDataSizeLimit: u32,
      heapSize: u32,
    },
    { requiredKeys: [] },
  )
  const meta = fc.record({
    pubkey: address.map((text) => new PublicKey(text)),
    isSigner: fc.constant(false),
    isWritable: fc.boolean(),
  })
  const instruction = fc
    .record({
      programId: address.map((text) => new PublicKey(text)),
      keys: fc.array(meta, { maxLength: 3 }),
      data: fc.uint8Array({ maxLength: 700 }),
    })
    .map(({ data, ...rest }) => new TransactionInstruction({ ...rest, data: Buffer.from(data) }))
  const { blockhash: recentBlockhash } = solanaFacts
  const pay = compile({ ...solanaIntent, ...solanaFacts }).instructions.slice(2)
  const paid = signVersion1(solanaPayer, {
    recentBlockhash,
    instructions: pay,
    config: { computeUnitLimit: 60_000, priorityFeeLamports: 7_000n },
  })

  test('is what kit writes and what web3.js reads, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 4 }), config, (instructions, asked) => {
        const bytes = signVersion1(solanaPayer, { recentBlockhash, instructions, config: asked })
        const { message, signatures } = VersionedTransaction.deserialize(bytes)
        const decoded = decodeExecuted(bytes)
        if (!decoded.ok) throw new Error(decoded.problem.code)
        expect(decoded.message).toEqual(bytes.slice(0, -64))
        expect(messageBytes(message)).toEqual(decoded.message)
        expect(decoded).toMatchObject({
          version: 1,
          form: 'signed',
          blockhash: recentBlockhash,
          signatures,
          feeBoundAtomic: 5_000n + (asked.priorityFeeLamports ?? 0n),
        })
        expect(decoded.accounts).toMatchObject(
          message.staticAccountKeys.map((key, index) => ({
            address: key.toBase58(),
            signer: message.isAccountSigner(index),
            writable: message.isAccountWritable(index),
          })),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('says what it pays, from its bytes and from its parts', () => {
    const { message, signatures } = VersionedTransaction.deserialize(paid)
    const parts = { message, signatures: signatures.map((signature) => bs58.encode(signature)) }
    const { sender, recipient, amountAtomic, paymentId } = solanaIntent
    for (const transaction of [parts, paid])
      expect(
        decodeLanded({ slot: 1, meta: { err: null, fee: 12_000 }, transaction }),
      ).toMatchObject({
        ok: true,
        signature: parts.signatures[0],
        feeBoundAtomic: 12_000n,
        transfer: { sender, recipient, amountAtomic, memo: paymentId },
      })
  })

  test('is never what a payer signs: there its version is unknown', () => {
    const problem = { code: 'unknown_version', params: { version: 1 } }
    expect(problemOf(paid)).toEqual(problem)
    expect(compareSigned(solanaIntent, solanaReviewed, paid)).toMatchObject({ ok: false })
    expect(problemOf(new Uint8Array(4096).with(0, 0x81))).toEqual(problem)
  })

  test.each<[string, Uint8Array, DecodeProblem]>([
    ['a tail', Uint8Array.from([...paid, 0]), { code: 'trailing_bytes', params: { count: 1 } }],
    ['a cut', paid.slice(0, -1), fact('cut_short')],
    ['half a priority fee', paid.with(4, 0b101), fact('not_canonical')],
    ['a bit of a later format', paid.with(4, 0b10_0111), fact('not_canonical')],
    ['more than 4,096 bytes', new Uint8Array(4097).with(0, 0x81), TOO_LARGE],
    ['no signer', paid.with(1, 0), fact('no_writable_signer')],
  ])('is not read with %s', (_, bytes, problem) => {
    const decoded = decodeExecuted(bytes)
    expect(decoded.ok ? undefined : decoded.problem).toEqual(problem)
  })
})

describe('is refused', () => {
  /** Where parts of the built transaction stand: 1 + 64 bytes of signatures, version, header, five keys, blockhash, instructions. */
  const AT = {
    version: 65,
    signers: 66,
    readonlySigned: 67,
    readonlyUnsigned: 68,
    keyCount: 69,
    keys: 70,
    instructionCount: 70 + 5 * 32 + 32,
  }
  const set = (at: number, byte: number) => solanaReviewed.with(at, byte)

  test.each<[string, Uint8Array, DecodeProblem]>([
    ['nothing', new Uint8Array(), fact('cut_short')],
    [
      'a tail',
      Uint8Array.from([...solanaReviewed, 0]),
      { code: 'trailing_bytes', params: { count: 1 } },
    ],
    ['a cut', solanaReviewed.slice(0, -1), fact('cut_short')],
    ['more than a packet', new Uint8Array(1233), { code: 'too_large', params: { maxBytes: 1232 } }],
    [
      'an unknown version',
      set(AT.version, 0x81),
      { code: 'unknown_version', params: { version: 1 } },
    ],
    [
      'a lookup table',
      Uint8Array.from([...solanaReviewed.slice(0, -1), 1, ...new Uint8Array(32), 1, 0, 0]),
      fact('lookup_table'),
    ],
    [
      'one signature too few',
      set(AT.signers, 2),
      { code: 'signature_count', params: { required: 2, present: 1 } },
    ],
    ['a fee payer that cannot be charged', set(AT.readonlySigned, 1), fact('no_writable_signer')],
    ['a header that counts too many', set(AT.readonlyUnsigned, 5), fact('too_few_accounts')],
    [
      'an account twice',
      Uint8Array.from([
        ...solanaReviewed.slice(0, AT.keys + 32),
        ...solanaReviewed.slice(AT.keys, AT.keys + 32),
        ...solanaReviewed.slice(AT.keys + 64),
      ]),
      fact('account_twice'),
    ],
    ['the fee payer as a program', set(AT.instructionCount + 1, 0), fact('fee_payer_called')],
    ['a program that is not listed', set(AT.instructionCount + 1, 5), fact('account_not_listed')],
    [
      'a length in two bytes that fits one',
      Uint8Array.from([0x82, 0x00, ...solanaReviewed.slice(1)]),
      fact('length_not_shortest'),
    ],
    [
      'a length in three bytes',
      Uint8Array.from([0x82, 0x80, 0x01, ...solanaReviewed.slice(1)]),
      fact('length_too_large'),
    ],
  ])('%s', (_, bytes, problem) => {
    expect(problemOf(bytes)).toEqual(problem)
  })

  test('anything at all, without a throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(problemOf(bytes)).toBeTypeOf('object')
        expect(problemOf(Uint8Array.from([1, ...new Uint8Array(64), ...bytes]))).toBeTypeOf(
          'object',
        )
      }),
      { numRuns: 5000 },
    )
  })
})

describe('is unknown, never taken for what it resembles', () => {
  const step = (programId: string | PublicKey, data: number[], keys = 0) => {
    const instruction = new TransactionInstruction({
      programId: new PublicKey(programId),
      keys: Array.from({ length: keys }, (_, index) => ({
        pubkey: new PublicKey(new Uint8Array(32).fill(index + 1)),
        isSigner: false,
        isWritable: true,
      })),
      data: Buffer.from(data),
    })
    const message = new TransactionMessage({
      payerKey: solanaPayer.publicKey,
      recentBlockhash: solanaFacts.blockhash,
      instructions: [instruction],
    })
    const decoded = decodeTransaction(
      new VersionedTransaction(message.compileToV0Message()).serialize(),
    )
    return decoded.ok ? decoded.steps[0]?.kind : decoded.problem.code
  }
  const budget = ComputeBudgetProgram.programId

  test.each<[string, string | PublicKey, number[], number]>([
    ['a transfer with a byte more', SYSTEM_PROGRAM, [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 2],
    ['a transfer with a byte less', SYSTEM_PROGRAM, [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], 2],
    ['a transfer with one account', SYSTEM_PROGRAM, [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 1],
    ['a transfer with three accounts', SYSTEM_PROGRAM, [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 3],
    ['a transfer’s tag in the wrong byte', SYSTEM_PROGRAM, [2, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0], 2],
    ['an assignment', SYSTEM_PROGRAM, [1, 0, 0, 0, ...new Uint8Array(32)], 1],
    ['a limit with a byte more', budget, [2, 1, 0, 0, 0, 0], 0],
    ['a price with a byte less', budget, [3, 1, 0, 0, 0, 0, 0, 0], 0],
    ['a price with an account', budget, [3, 1, 0, 0, 0, 0, 0, 0, 0], 1],
    ['the retired budget request', budget, [0, 1, 0, 0, 0, 0, 0, 0, 0], 0],
    ['a memo that is not UTF-8', MEMO_PROGRAM, [0xc3, 0x28], 0],
    ['a Lighthouse write', LIGHTHOUSE_PROGRAM, [0, 1], 1],
    ['a Lighthouse close', LIGHTHOUSE_PROGRAM, [1, 1], 1],
    ['an empty Lighthouse call', LIGHTHOUSE_PROGRAM, [], 1],
  ])('%s', (_, program, data, keys) => {
    expect(step(program, data, keys)).toBe('unknown')
  })

  test('while the real ones are known', () => {
    expect(step(SYSTEM_PROGRAM, [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 2)).toBe('transfer')
    expect(step(budget, [2, 1, 0, 0, 0])).toBe('fee_limit')
    expect(step(budget, [3, 1, 0, 0, 0, 0, 0, 0, 0])).toBe('fee_price')
    expect(step(MEMO_PROGRAM, [0x61])).toBe('memo')
    expect(step('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', [0x61])).toBe('memo')
    expect(step(LIGHTHOUSE_PROGRAM, [2, 1], 1)).toBe('guard')
  })
})
