import { createHmac, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import {
  encodeFunctionData,
  hexToBytes,
  parseAbi,
  hashTypedData,
  recoverAddress,
  serializeTransaction,
  type Hex,
  type TypedDataDefinition,
} from 'viem'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { reasonCodeOf } from '#contract/reasons.ts'
import { callOf, proxyAbi } from '#chains/evm/authorization.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { openTestSigner, type TestSigner } from '#testing/test-signer.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { proofTypedData } from '#x402/txid.ts'
import { writeFrozen } from './policy.ts'
import type { SealedWallet } from './protocol.ts'
import { createSigner } from './signer.ts'

const ETH = 10n ** 18n
const SOL = 1_000_000_000n
const GWEI = 10n ** 9n
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const DAY_MS = 86_400_000

let signer: TestSigner
let evm: SealedWallet
let solana: SealedWallet
let now = Date.UTC(2026, 5, 1, 12)

beforeEach(async () => {
  now = Date.UTC(2026, 5, 1, 12)
  signer = openTestSigner(() => now)
  onTestFinished(() => signer[Symbol.asyncDispose]())
  evm = await signer.seal({ id: 'wal_evm', accountId: 'acc_1', family: 'evm' })
  solana = await signer.seal({ id: 'wal_sol', accountId: 'acc_1', family: 'solana' })
})

type EvmFields = Partial<{
  chainId: number
  nonce: number
  gas: bigint
  price: bigint
  to: string
  value: bigint
  data: Hex
}>

/** A transfer of 1 ETH whose fee is at most 0.000021 ETH, with changes. */
function evmBytes(changes: EvmFields = {}): Uint8Array {
  const { price = GWEI, to = PAYEE, ...fields } = changes
  return hexToBytes(
    serializeTransaction({
      type: 'eip1559',
      chainId: 8453,
      nonce: 0,
      gas: 21_000n,
      value: ETH,
      ...fields,
      to: to as Hex,
      maxFeePerGas: price,
      maxPriorityFeePerGas: 1n,
    }),
  )
}

const pay = (changes: EvmFields = {}) =>
  signer.sign({ wallet: evm, transaction: evmBytes(changes) })

const authorization = {
  method: 'eip3009',
  token: TOKEN,
  from: OTHER,
  to: PAYEE,
  amountAtomic: 5n,
  nonce: `0x${'11'.repeat(32)}`,
  validAfter: 0n,
  validBefore: 9n,
  signature: `0x${'22'.repeat(64)}1b`,
  signedBy: 'key',
} as const
const settlement = (changes: object = {}) => ({
  ...callOf({ ...authorization, ...changes }),
  value: 0n,
  gas: 100_000n,
})

const keyOf = (address: string) => new PublicKey(address)

/** A Solana transaction of these instructions; `others` have signed. */
function solanaBytes(
  instructions: TransactionInstruction[],
  { payer = solana.address, others = [] }: { payer?: string; others?: Keypair[] } = {},
): Uint8Array {
  const message = new TransactionMessage({
    payerKey: keyOf(payer),
    recentBlockhash: bs58.encode(randomBytes(32)),
    instructions,
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  if (others.length > 0) transaction.sign(others)
  return transaction.serialize()
}

const PAYEE_SOL = Keypair.generate().publicKey
const units = (limit: number) =>
  new TransactionInstruction({
    programId: keyOf('ComputeBudget111111111111111111111111111111'),
    keys: [],
    data: Buffer.from([2, ...new Uint8Array(Uint32Array.of(limit).buffer)]),
  })
const transferSol = (from: string, lamports = SOL, to = PAYEE_SOL) =>
  SystemProgram.transfer({ fromPubkey: keyOf(from), toPubkey: to, lamports })
const memo = (text: string) =>
  new TransactionInstruction({
    programId: keyOf('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
    keys: [],
    data: Buffer.from(text),
  })

/** Another signer on the folder of the first, as after a restart. */
function openAnother(options: Partial<Parameters<typeof createSigner>[0]> = {}) {
  const policyFile = join(signer.folder, 'policy.json')
  const opened = createSigner({
    vault: signer.vault,
    folder: signer.folder,
    policyFile,
    ...options,
  })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  return opened
}

const digestOf = (typedData: TypedDataDefinition) => hashTypedData(typedData)

const reasonOf = async (signing: Promise<unknown>) =>
  signing.then(
    () => 'signed',
    (error: { code?: string; facts?: { details?: Record<string, unknown> } }) =>
      error.code === 'SIGNING_REFUSED' ? reasonCodeOf(error.facts?.details) : error,
  )

describe('what the signer signs', () => {
  test('a payment on EVM, and a proof of it whose every field but the resource is read from the bytes', async () => {
    const url = 'https://shop.example/a'
    const { bytes, signature, proofSignature } = await signer.sign({
      wallet: evm,
      transaction: evmBytes(),
      proof: { url },
    })
    expect(decodeTransaction(bytes)).toMatchObject({
      sender: evm.address,
      to: PAYEE,
      valueAtomic: ETH,
      hash: signature,
    })
    const terms = {
      network: 'eip155:8453',
      from: evm.address,
      payTo: PAYEE,
      asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
      amountAtomic: ETH,
      maxTimeoutSeconds: 60,
      resource: { url },
    }
    const hash = digestOf(proofTypedData(terms, signature))
    expect(await recoverAddress({ hash, signature: proofSignature ?? '0x' })).toBe(evm.address)
  })

  test('a payment on Solana', async () => {
    const transaction = solanaBytes([units(450), transferSol(solana.address), memo('pay_1')])
    const { bytes, signature, proofSignature } = await signer.sign({ wallet: solana, transaction })
    expect(decodeSolana(bytes)).toMatchObject({ form: 'signed', signature })
    expect(proofSignature).toBeNull()
  })

  test('a settlement of EIP-3009 and of Permit2, and the network fee of a payer on Solana', async () => {
    expect(await reasonOf(pay(settlement()))).toBe('signed')
    const contract = { signature: `0x${'22'.repeat(2_048)}`, signedBy: 'contract' }
    for (const method of ['eip3009', 'permit2'])
      expect(await reasonOf(pay({ ...settlement({ ...contract, method }), nonce: 1 }))).toBe(
        'signed',
      )
    expect(await reasonOf(pay(settlement({ signedBy: 'contract' })))).toBe('signed')
    expect(await reasonOf(pay(settlement({ method: 'permit2' })))).toBe('signed')
    const payer = Keypair.generate()
    const transaction = solanaBytes(
      [units(450), transferSol(payer.publicKey.toBase58()), memo('x')],
      { others: [payer] },
    )
    const { bytes } = await signer.sign({ wallet: solana, transaction })
    expect(decodeSolana(bytes)).toMatchObject({ form: 'signed', feePayer: solana.address })
  })

  const transferAbi = parseAbi([
    'function transfer(address to, uint256 value)',
    'function approve(address spender, uint256 value)',
  ])
  const callData = (functionName: 'transfer' | 'approve') =>
    encodeFunctionData({ abi: transferAbi, functionName, args: [OTHER, 1n] })
  test.each<[string, () => EvmFields]>([
    ["a token's transfer", () => ({ to: TOKEN, value: 0n, data: callData('transfer') })],
    ["a token's approval", () => ({ to: TOKEN, value: 0n, data: callData('approve') })],
    ['native currency with a call', () => ({ ...settlement(), value: 1n })],
    ['data that no function has', () => ({ value: 0n, data: '0xdeadbeef' })],
    [
      'a settlement with bytes behind it',
      () => {
        const { data, ...call } = settlement()
        return { ...call, data: `${data}00` }
      },
    ],
    ["a settlement of the wallet's own money", () => settlement({ from: evm.address as Hex })],
    [
      "Permit2's call to another contract",
      () => ({
        ...settlement({ method: 'permit2' }),
        to: TOKEN,
      }),
    ],
    [
      'an EIP-3009 call to the proxy of Permit2',
      () => ({
        ...settlement(),
        to: EXACT_PERMIT2_PROXY,
      }),
    ],
    [
      'a permit for the proxy beside the payment',
      () => ({
        to: EXACT_PERMIT2_PROXY,
        value: 0n,
        data: encodeFunctionData({
          abi: proxyAbi,
          functionName: 'settleWithPermit',
          args: [
            {
              value: 1n,
              deadline: 1n,
              r: `0x${'00'.repeat(32)}`,
              s: `0x${'00'.repeat(32)}`,
              v: 27,
            },
            { permitted: { token: TOKEN, amount: 1n }, nonce: 1n, deadline: 1n },
            OTHER,
            { to: PAYEE, validAfter: 0n },
            '0x',
          ],
        }),
      }),
    ],
    ['no money at all', () => ({ value: 0n })],
    [
      'more data than any settlement has, which a rollup charges for beside the gas',
      () => settlement({ signature: `0x${'22'.repeat(2_200)}`, signedBy: 'contract' }),
    ],
    ['more gas than any payment needs', () => ({ gas: 1_000_001n })],
  ])('on EVM it refuses %s', async (_, fields) => {
    expect(await reasonOf(pay(fields()))).toBe('not_understood')
  })

  test('on EVM it refuses bytes that are no transaction, an older type, and one that is signed', async () => {
    const { bytes } = await pay()
    const legacy = serializeTransaction({
      type: 'legacy',
      chainId: 8453,
      nonce: 0,
      gas: 21_000n,
      gasPrice: 1n,
      to: PAYEE,
      value: 1n,
    })
    for (const transaction of [randomBytes(32), hexToBytes(legacy), bytes])
      expect(await reasonOf(signer.sign({ wallet: evm, transaction }))).toBe('not_understood')
  })

  const stranger = Keypair.generate()
  const strangerKey = stranger.publicKey.toBase58()
  const tokenTransfer = (authority: string) =>
    new TransactionInstruction({
      programId: keyOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
      keys: [PAYEE_SOL, PAYEE_SOL, PAYEE_SOL, keyOf(authority)].map((pubkey, index) => ({
        pubkey,
        isSigner: index === 3,
        isWritable: index !== 3,
      })),
      data: Buffer.from([12, 1, 0, 0, 0, 0, 0, 0, 0, 6]),
    })
  test.each<[string, () => Uint8Array]>([
    ['a transaction without a transfer', () => solanaBytes([memo('x')])],
    [
      'two transfers',
      () => solanaBytes([transferSol(solana.address), transferSol(solana.address)]),
    ],
    [
      'a new account',
      () =>
        solanaBytes([
          transferSol(solana.address),
          SystemProgram.assign({ accountPubkey: keyOf(solana.address), programId: PAYEE_SOL }),
        ]),
    ],
    [
      'a durable nonce',
      () =>
        solanaBytes([
          SystemProgram.nonceAdvance({
            noncePubkey: PAYEE_SOL,
            authorizedPubkey: keyOf(solana.address),
          }),
          transferSol(solana.address),
        ]),
    ],
    [
      "a token's transfer from the wallet",
      () => solanaBytes([units(450), tokenTransfer(solana.address)]),
    ],
    [
      'another fee payer',
      () => solanaBytes([transferSol(solana.address)], { payer: strangerKey, others: [stranger] }),
    ],
    ['a payer who has not signed', () => solanaBytes([units(450), transferSol(strangerKey)])],
    [
      'a sponsored payment without a compute limit',
      () => solanaBytes([transferSol(strangerKey)], { others: [stranger] }),
    ],
    [
      'a sponsored payment above the compute limit',
      () => solanaBytes([units(60_001), transferSol(strangerKey)], { others: [stranger] }),
    ],
    [
      'a sponsored payment that names the wallet',
      () =>
        solanaBytes(
          [
            units(450),
            transferSol(strangerKey),
            new TransactionInstruction({
              programId: keyOf('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
              keys: [{ pubkey: keyOf(solana.address), isSigner: true, isWritable: false }],
              data: Buffer.from('x'),
            }),
          ],
          { others: [stranger] },
        ),
    ],
    ['bytes that are no transaction', () => randomBytes(64)],
  ])('on Solana it refuses %s', async (_, bytes) => {
    expect(await reasonOf(signer.sign({ wallet: solana, transaction: bytes() }))).toBe(
      'not_understood',
    )
  })

  test('it signs for no row that was changed, and for none that another key has sealed', async () => {
    const other = await signer.seal({ id: 'wal_2', accountId: 'acc_2', family: 'evm' })
    const { wrappedKey, sealedSecret, vaultKeyId } = other
    for (const wallet of [
      { ...evm, wrappedKey, sealedSecret },
      { ...evm, address: other.address },
      { ...evm, accountId: 'acc_2' },
    ])
      await expect(signer.sign({ wallet, transaction: evmBytes() })).rejects.toThrow(
        'unable to authenticate',
      )
    const foreign = { ...evm, vaultKeyId: `${vaultKeyId}x` }
    await expect(signer.sign({ wallet: foreign, transaction: evmBytes() })).rejects.toThrow(
      'sealed under the vault key',
    )
    // Opened once is not opened for another row of the same id.
    await signer.open(evm)
    await expect(
      signer.sign({ wallet: { ...evm, sealedSecret }, transaction: evmBytes() }),
    ).rejects.toThrow('unable to authenticate')
  })
})

describe('the policy', () => {
  test('without a policy only the fee of one transaction is limited, to 0.05', async () => {
    const free = openAnother({ policyFile: undefined })
    const big = evmBytes({ value: 10_000n * ETH, price: 2_000n * GWEI })
    expect(await reasonOf(free.sign({ wallet: evm, transaction: big }))).toBe('signed')
    const dear = evmBytes({ price: 3_000n * GWEI })
    await expect(free.sign({ wallet: evm, transaction: dear })).rejects.toMatchObject({
      facts: {
        details: { reason: { code: 'over_fee', params: {} }, limit: '0.05', asked: '0.063' },
      },
    })
  })

  test('a payment above the cap per payment is refused with the cap and what was asked; fees do not count there', async () => {
    signer.setPolicy({ rules: [{ wallet: evm.address, maxPerPayment: '1' }] })
    expect(await reasonOf(pay())).toBe('signed')
    await expect(pay({ nonce: 1, value: ETH + 1n })).rejects.toMatchObject({
      code: 'SIGNING_REFUSED',
      facts: {
        details: {
          reason: { code: 'over_payment', params: {} },
          limit: '1',
          asked: '1.000000000000000001',
          walletAddress: evm.address,
          network: 'eip155:8453',
        },
      },
    })
  })

  test('the cap per day counts amounts and fees of 24 hours, for each wallet and network', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '2' }] })
    expect(await reasonOf(pay({ nonce: 0 }))).toBe('signed')
    await expect(pay({ nonce: 1 })).rejects.toMatchObject({
      facts: {
        details: {
          reason: { code: 'over_day', params: {} },
          limit: '2',
          asked: '1.000021',
          signed: '1.000021',
        },
      },
    })
    expect(await reasonOf(pay({ nonce: 1, value: ETH - 42_000n * GWEI }))).toBe('signed')
    expect(await reasonOf(pay({ nonce: 2, value: 1n, gas: 21_000n }))).toBe('over_day')
    expect(await reasonOf(pay({ chainId: 1 }))).toBe('signed')
    const other = await signer.seal({ id: 'wal_3', accountId: 'acc_1', family: 'evm' })
    expect(await reasonOf(signer.sign({ wallet: other, transaction: evmBytes() }))).toBe('signed')
    now += DAY_MS - 1
    expect(await reasonOf(pay({ nonce: 3 }))).toBe('over_day')
    now += 1
    expect(await reasonOf(pay({ nonce: 3 }))).toBe('signed')
  })

  test('payments that are asked for at once share what is left of a day', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '5.5' }] })
    const asked = await Promise.all(
      Array.from({ length: 32 }, (_, nonce) => reasonOf(pay({ nonce }))),
    )
    expect(asked.filter((outcome) => outcome === 'signed')).toHaveLength(5)
  })

  test('a payment that is signed again with a higher fee counts once; another one on its nonce counts too', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '1.5' }] })
    for (const price of [1n, 2n, 9n])
      expect(await reasonOf(pay({ price: price * GWEI }))).toBe('signed')
    // 1 and the highest fee are counted: 0.499811 is left.
    const rest = 499_811n * 10n ** 12n - 21_000n * GWEI
    for (const change of [{ value: ETH / 2n }, { to: OTHER }, { nonce: 1 }])
      expect(await reasonOf(pay(change))).toBe('over_day')
    expect(await reasonOf(pay({ value: rest + 1n }))).toBe('over_day')
    expect(await reasonOf(pay({ value: rest }))).toBe('signed')
    // A lower fee again is the same payment, and costs nothing more.
    expect(await reasonOf(pay({ price: GWEI }))).toBe('signed')
  })

  test('on Solana a payment with another blockhash counts again, since both may land', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', network: 'solana', maxPerDay: '1.5' }] })
    const once = solanaBytes([transferSol(solana.address), memo('pay_1')])
    const again = solanaBytes([transferSol(solana.address), memo('pay_1')])
    const sign = (transaction: Uint8Array) => reasonOf(signer.sign({ wallet: solana, transaction }))
    expect([await sign(once), await sign(once), await sign(again)]).toEqual([
      'signed',
      'signed',
      'over_day',
    ])
  })

  test('the network fee of settlements counts towards the day, and may be limited or forbidden', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '0.00025', maxFee: '0.0001' }] })
    expect(await reasonOf(pay({ ...settlement(), nonce: 0 }))).toBe('signed')
    expect(await reasonOf(pay({ ...settlement(), nonce: 1 }))).toBe('signed')
    expect(await reasonOf(pay({ ...settlement(), nonce: 2 }))).toBe('over_day')
    expect(await reasonOf(pay({ ...settlement(), nonce: 2, price: 2n * GWEI }))).toBe('over_fee')
    signer.setPolicy({ rules: [{ wallet: '*', settlements: false }] })
    expect(await reasonOf(pay({ ...settlement(), nonce: 2 }))).toBe('no_settlements')
  })

  test('what the policy refuses opens no key', async () => {
    let opened = 0
    const unwrap: typeof signer.vault.unwrap = (wrapped, context) => {
      opened++
      return signer.vault.unwrap(wrapped, context)
    }
    const watched = openAnother({ vault: { ...signer.vault, unwrap } })
    const sign = (value: bigint) =>
      reasonOf(watched.sign({ wallet: evm, transaction: evmBytes({ value }) }))
    signer.setPolicy({ rules: [{ wallet: '*', maxPerPayment: '1' }] })
    expect([await sign(ETH + 1n), opened]).toEqual(['over_payment', 0])
    writeFrozen(signer.folder, { all: true, wallets: [] })
    expect([await sign(ETH), opened]).toEqual(['frozen', 0])
    writeFrozen(signer.folder, { all: false, wallets: [] })
    expect([await sign(ETH), opened]).toEqual(['signed', 1])
  })

  test('a recipient that is not on the allow-list is refused; a wallet without a rule signs nothing', async () => {
    signer.setPolicy({
      rules: [{ wallet: evm.address, network: 'eip155:8453', recipients: [PAYEE.toLowerCase()] }],
    })
    expect(await reasonOf(pay())).toBe('signed')
    expect(await reasonOf(pay({ to: OTHER }))).toBe('recipient')
    expect(await reasonOf(pay({ chainId: 1 }))).toBe('no_rule')
    const transaction = solanaBytes([transferSol(solana.address)])
    expect(await reasonOf(signer.sign({ wallet: solana, transaction }))).toBe('no_rule')
  })

  test('of several rules each applies', async () => {
    signer.setPolicy({
      rules: [
        { wallet: '*', maxPerPayment: '5' },
        { wallet: evm.address, maxPerPayment: '0.5' },
      ],
    })
    expect(await reasonOf(pay())).toBe('over_payment')
    expect(await reasonOf(pay({ value: ETH / 2n }))).toBe('signed')
  })

  test.each<[unknown, string]>([
    [{ rules: [] }, 'at rules: Expected at least one rule.'],
    [{ rules: [{ wallet: '0x12' }] }, 'at rules.0.wallet'],
    [{ rules: [{ wallet: '*', maxPerDay: 5 }] }, 'at rules.0.maxPerDay: Expected a decimal number'],
    [{ rules: [{ wallet: '*', maxPerDay: '-1' }] }, 'at rules.0.maxPerDay: Expected a decimal'],
    [{ rules: [{ wallet: '*', maxPerdag: '1' }] }, 'at rules.0.maxPerdag'],
    [{ rules: [{ wallet: '*', network: 'solana:5eykt' }] }, 'at rules.0.network: Expected eip155'],
    [{ rules: [{ wallet: '*', asset: TOKEN }] }, 'at rules.0.asset: Expected native'],
    [{ rules: [{ wallet: '*', recipients: ['x'] }] }, 'at rules.0.recipients.0'],
    ['not an object', 'SIGNER_POLICY_FILE: at its start'],
  ])('a policy of %j is refused at the start, with its field', (policy, message) => {
    signer.setPolicy(policy)
    expect(() => openAnother()).toThrow(message)
  })

  test('a policy that becomes unreadable stops signing, and is told as a failure of the service', async () => {
    signer.setPolicy('nonsense')
    for (const asked of [pay(), signer.check()])
      await expect(asked).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        facts: { details: { operator: expect.stringContaining('SIGNER_POLICY_FILE') } },
      })
    signer.setPolicy({ rules: [{ wallet: '*' }] })
    expect(await reasonOf(pay())).toBe('signed')
  })
})

describe('what was spent', () => {
  const reopen = () => openAnother({ now: () => now, uptime: () => now })
  const spendFile = () =>
    join(signer.folder, readdirSync(signer.folder).find((name) => name.startsWith('spend-')) ?? '')

  test('is known after a restart, over midnight too, and is forgotten after 24 hours', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '1.5' }] })
    await pay()
    now += DAY_MS / 2 + 1
    const second = { wallet: evm, transaction: evmBytes({ nonce: 1 }) }
    expect(await reasonOf(reopen().sign(second))).toBe('over_day')
    now += DAY_MS / 2
    expect(await reasonOf(reopen().sign(second))).toBe('signed')
  })

  test('is read past a line that a power cut left half written, and past nothing else', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '1.5' }] })
    await pay()
    appendFileSync(spendFile(), '{"at":17000,"wal')
    const second = { wallet: evm, transaction: evmBytes({ nonce: 1 }) }
    const again = reopen()
    expect(await reasonOf(again.sign(second))).toBe('over_day')
    const small = { wallet: evm, transaction: evmBytes({ nonce: 1, value: 1n }) }
    expect(await reasonOf(again.sign(small))).toBe('signed')
    expect(await reasonOf(reopen().sign(second))).toBe('over_day')
    appendFileSync(spendFile(), 'nonsense\n')
    expect(reopen).toThrow(/spend-2026-06-01\.jsonl: line 3 is not of the signer/)
  })

  test('stays counted when the disk does not take it, nothing is signed then, and the signer is not ready until the disk takes it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paydesk-full-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const full = openAnother({ folder })
    const sign = (nonce: number) => full.sign({ wallet: evm, transaction: evmBytes({ nonce }) })
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '2.5' }] })
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'a file in place of the folder')
    const unavailable = {
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('Nothing was signed'),
    }
    await full.check()
    await expect(sign(0)).rejects.toMatchObject(unavailable)
    await expect(full.check()).rejects.toMatchObject(unavailable)
    rmSync(folder)
    mkdirSync(folder)
    await full.check()
    expect([await reasonOf(sign(1)), await reasonOf(sign(2))]).toEqual(['signed', 'over_day'])
    const again = openAnother({ folder })
    expect(await reasonOf(again.sign({ wallet: evm, transaction: evmBytes() }))).toBe('signed')
  })

  test('is measured by the time that passes: a clock that is set forward gives no day back, and one that is set back takes no more than a day', async () => {
    let uptime = 0
    const open = () => openAnother({ now: () => now, uptime: () => uptime })
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '1.5' }] })
    const first = open()
    const sign = (by: typeof first, nonce: number) =>
      reasonOf(by.sign({ wallet: evm, transaction: evmBytes({ nonce }) }))
    now += 1_000 * DAY_MS
    expect(await sign(first, 0)).toBe('signed')
    now += DAY_MS
    expect(await sign(first, 1)).toBe('over_day')
    // The next process starts with a clock that was set back, and waits for one day all the same.
    now -= 1_001 * DAY_MS
    const second = open()
    uptime += DAY_MS - 1
    expect(await sign(second, 1)).toBe('over_day')
    uptime += 1
    expect(await sign(second, 1)).toBe('signed')
  })

  test('is not forgotten when a machine starts with a clock that is days behind, and that is set later', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '2.5' }] })
    await pay()
    let uptime = 0
    const open = () => openAnother({ now: () => now, uptime: () => uptime })
    const sign = (by: ReturnType<typeof open>, nonce: number) =>
      reasonOf(by.sign({ wallet: evm, transaction: evmBytes({ nonce }) }))
    const pass = (ms: number) => [(now += ms), (uptime += ms)]
    pass(DAY_MS / 2)
    now -= 3 * DAY_MS
    const behind = open()
    pass(DAY_MS / 4)
    expect([await sign(behind, 1), await sign(behind, 2)]).toEqual(['signed', 'over_day'])
    pass(DAY_MS / 4)
    now += 3 * DAY_MS
    // The log knows that the second payment came a quarter of a day after the first one, or later: a millisecond of its day is left.
    pass(DAY_MS / 4 - 1)
    const right = open()
    expect([await sign(right, 2), await sign(right, 3)]).toEqual(['signed', 'over_day'])
    expect(await sign(open(), 3)).toBe('over_day')
  })

  test('of days after a clock was ahead is not counted again at each start', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '2.5' }] })
    let uptime = 0
    const open = () => openAnother({ now: () => now, uptime: () => uptime })
    const sign = (by: ReturnType<typeof open>, nonce: number) =>
      reasonOf(by.sign({ wallet: evm, transaction: evmBytes({ nonce }) }))
    now += 1_000 * DAY_MS
    expect(await sign(open(), 0)).toBe('signed')
    now -= 1_000 * DAY_MS
    for (const nonce of [1, 2, 3]) {
      expect(await sign(open(), nonce)).toBe('signed')
      now += DAY_MS
      uptime += DAY_MS
    }
    expect(await sign(open(), 4)).toBe('signed')
    expect(await sign(open(), 5)).toBe('over_day')
  })

  test('is read from a log of any length, to its last whole line', async () => {
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '1.5' }] })
    await pay()
    const line = readFileSync(spendFile(), 'utf8')
    const others = Array.from({ length: 20_000 }, (_, index) =>
      line.replace(evm.address, `0x${index}`),
    )
    appendFileSync(spendFile(), others.join(''))
    appendFileSync(spendFile(), line.replace(/"identity":"..../, '"identity":"last'))
    appendFileSync(spendFile(), '{'.repeat(1_500_000))
    expect(statSync(spendFile()).size).toBeGreaterThan(6_000_000)
    signer.setPolicy({ rules: [{ wallet: '*', maxPerDay: '2.5' }] })
    const again = reopen()
    expect(statSync(spendFile()).size).toBeLessThan(6_000_000)
    const sign = (fields: EvmFields) =>
      reasonOf(again.sign({ wallet: evm, transaction: evmBytes(fields) }))
    expect(await sign({ nonce: 1 })).toBe('over_day')
    expect(await sign({ nonce: 1, value: ETH / 10n })).toBe('signed')
  })
})

describe('secrets that sign messages', () => {
  const message = Buffer.from('message')
  const secret = () => Buffer.alloc(32, 7)

  test('a message gets the HMAC of its secret, and what is sealed does not contain it', async () => {
    const given = secret()
    const key = await signer.sealKey({ id: 'whs_1', accountId: 'acc_1', secret: given })
    expect(given.every((byte) => byte === 0)).toBe(true)
    expect(JSON.stringify(key)).not.toContain(secret().toString('base64'))
    const right = createHmac('sha256', secret()).update(message).digest()
    // The second one with the secret that is at hand.
    const macs = [await signer.mac({ key, message }), await signer.mac({ key, message })]
    expect(macs.map((mac) => Buffer.from(mac))).toEqual([right, right])
  })

  test('32 messages at once get the HMAC of the secret, though each may be the one that opens it', async () => {
    const key = await signer.sealKey({ id: 'whs_1', accountId: 'acc_1', secret: secret() })
    const right = createHmac('sha256', secret()).update(message).digest()
    const macs = await Promise.all(Array.from({ length: 32 }, () => signer.mac({ key, message })))
    expect(macs.map((mac) => Buffer.from(mac))).toEqual(macs.map(() => right))
  })

  test('one that was moved to another row or account does not open', async () => {
    const key = await signer.sealKey({ id: 'whs_1', accountId: 'acc_1', secret: secret() })
    for (const moved of [{ id: 'whs_2' }, { accountId: 'acc_2' }])
      await expect(signer.mac({ key: { ...key, ...moved }, message })).rejects.toThrow(
        'unable to authenticate data',
      )
  })

  test('a wallet signs no messages with its key, and such a secret signs no payments', async () => {
    await expect(signer.mac({ key: evm, message })).rejects.toThrow('unable to authenticate data')
    const key = await signer.sealKey({ id: evm.id, accountId: evm.accountId, secret: secret() })
    await expect(signer.open({ ...evm, ...key })).rejects.toThrow('unable to authenticate data')
  })
})
