import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  SYSVAR_CLOCK_PUBKEY,
  Transaction,
  type Connection,
} from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { signVersion1 } from '#testing/chain-payments.ts'
import { freePort } from '../../options.ts'
import { associatedTokenAccount, createSolanaAccounts } from '../../tokens/solana.ts'
import { devnetWallets, solanaKeypair } from '../wallets.ts'
import { GENESIS_HASH } from './method-overrides.ts'
import { SolanaNode } from './node.ts'

const { buyer, seller } = devnetWallets()
const [from, to] = [new PublicKey(buyer.solana.address), new PublicKey(seller.solana.address)]
const said: string[] = []
let dir: string
let ports: { port: number; wsPort: number }
let node: SolanaNode

const start = () =>
  SolanaNode.start({ dir, ...ports, slotTimeMs: 50, print: (line) => said.push(line) })

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'paydesk-solana-'))
  ports = { port: await freePort(), wsPort: await freePort() }
  node = await start()
  await createSolanaAccounts(node.connection, [buyer.solana.address, seller.solana.address])
})

afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

test('a payment lands, and its fee and its time are those a cluster tells', async () => {
  const before = await node.connection.getBalance(from)
  const { signature, message } = await pay(node.connection, 100_000_000)
  const landed = await node.connection.getTransaction(signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  // 5,000 for the signature and 1,000 units at 7 lamports.
  expect(landed?.meta?.fee).toBe(12_000)
  expect((await node.connection.getFeeForMessage(message)).value).toBe(12_000)
  expect(before - (await node.connection.getBalance(from))).toBe(100_012_000)
  expect(Math.abs((landed?.blockTime ?? 0) - Date.now() / 1000)).toBeLessThan(30)
})

test('a program that asks for finality does not get a transaction before', async () => {
  const { signature } = await pay(node.connection, 1_000_000)
  const early = await node.connection.getTransaction(signature, {
    commitment: 'finalized',
    maxSupportedTransactionVersion: 0,
  })
  expect(early).toBeNull()
  await until(
    async () =>
      (await node.connection.getSignatureStatus(signature)).value?.confirmationStatus ===
      'finalized',
  )
  expect(
    await node.connection.getTransaction(signature, {
      commitment: 'finalized',
      maxSupportedTransactionVersion: 0,
    }),
  ).not.toBeNull()
})

test('a transaction of version 1 is shown to a program that reads it, and refused to another by the code of a cluster', async () => {
  const { connection } = node
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash()
  const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1_000 })
  const bytes = signVersion1(solanaKeypair(buyer.solana), {
    recentBlockhash,
    instructions: [transfer],
  })
  const signature = await connection.sendRawTransaction(bytes)
  const read = (maxSupportedTransactionVersion: number) =>
    connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion,
    })
  await until(async () => (await read(1)) !== null)
  expect(await read(1)).toMatchObject({ version: 1, meta: { err: null, fee: 5_000 } })
  await expect(read(0)).rejects.toMatchObject({ code: -32_015 })
  const [newest] = await connection.getSignaturesForAddress(to, { limit: 1 }, 'confirmed')
  expect(newest?.signature).toBe(signature)
  // After a restart the node does not know it, and this layer does.
  await node.kill()
  await until(async () => said.splice(0).includes('Solana node is back.'))
  await expect(connection.sendRawTransaction(bytes)).rejects.toThrow('already been processed')
})

test('subscriptions come through', async () => {
  const socket = new WebSocket(node.wsUrl)
  const notified = new Promise<string>((resolve) =>
    socket.on('message', (data) => /slotNotification/.test(String(data)) && resolve(String(data))),
  )
  socket.on('open', () =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe' })),
  )
  expect(JSON.parse(await notified)).toMatchObject({
    params: { result: { slot: expect.any(Number) } },
  })
  socket.terminate()
})

test('history and accounts outlive the node, however it ended, and time goes on', async () => {
  const { signature, raw } = await pay(node.connection, 5_000_000)
  const address = { limit: 1 }
  const [balance, tokens, history, latest] = [
    await node.connection.getBalance(to),
    await node.connection.getTokenAccountBalance(associatedTokenAccount(to)),
    await node.connection.getSignaturesForAddress(to, address, 'confirmed'),
    await node.connection.getLatestBlockhash(),
  ]
  expect(history[0]?.signature).toBe(signature)
  await until(async () => (await node.connection.getBlockHeight('processed')) > 3)

  const endings = [
    async () => node.kill(),
    async () => {
      await node[Symbol.asyncDispose]()
      node = await start()
    },
  ]
  for (const end of endings) {
    await end()
    const { connection } = node
    expect(await connection.getBalance(to)).toBe(balance)
    expect((await connection.getTokenAccountBalance(associatedTokenAccount(to))).value.amount).toBe(
      tokens.value.amount,
    )
    expect((await connection.getSignaturesForAddress(to, address))[0]?.signature).toBe(signature)
    expect(
      (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }))?.meta
        ?.fee,
    ).toBe(12_000)
    expect(
      (await connection.getSignatureStatus(signature, { searchTransactionHistory: true })).value
        ?.confirmationStatus,
    ).toBe('finalized')
    // What was built before can no longer land; and what landed before does not land again, though the blockhashes repeat.
    expect(await connection.getBlockHeight('finalized')).toBeGreaterThan(
      latest.lastValidBlockHeight,
    )
    await expect(connection.sendRawTransaction(raw)).rejects.toThrow('already been processed')
    expect(await connection.sendRawTransaction(raw, { skipPreflight: true })).toBe(signature)
    expect(await connection.getBalance(to)).toBe(balance)
    expect(await connection.getGenesisHash()).toBe(GENESIS_HASH)
    // The slots that the restart jumped over are 10 s long.
    for (const time of await readTimes(connection))
      expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(4)
  }
  expect(said).toEqual(['Solana node ended (SIGKILL); starting it again.', 'Solana node is back.'])
})

test('malformed requests are answered, batches are', async () => {
  const post = async (body: string) => (await fetch(node.rpcUrl, { method: 'POST', body })).json()
  expect(await post('{')).toMatchObject({ error: { code: -32700 } })
  expect(await post('{"method":1}')).toMatchObject({ error: { code: -32600 } })
  expect(
    await post('{"jsonrpc":"2.0","id":1,"method":"getSignaturesForAddress","params":["x"]}'),
  ).toMatchObject({ error: { code: -32602 } })
  expect(
    await post(
      '[{"jsonrpc":"2.0","id":1,"method":"getHealth"},{"jsonrpc":"2.0","id":2,"method":"getGenesisHash"}]',
    ),
  ).toMatchObject([
    { id: 1, result: 'ok' },
    { id: 2, result: GENESIS_HASH },
  ])
})

/** Of the newest block, in Unix seconds: as its slot has it, and as the clock account has it in both encodings. */
async function readTimes(connection: Connection): Promise<number[]> {
  const raw = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'processed')
  const { value } = await connection.getParsedAccountInfo(SYSVAR_CLOCK_PUBKEY)
  const data = value?.data
  return [
    (await connection.getBlockTime(await connection.getSlot('processed'))) ?? 0,
    Number(raw?.data.readBigInt64LE(32)),
    data && 'parsed' in data ? Number(data.parsed.info.unixTimestamp) : 0,
  ]
}

async function pay(
  connection: Connection,
  lamports: number,
): Promise<{ signature: string; raw: Buffer; message: ReturnType<Transaction['compileMessage']> }> {
  const transaction = new Transaction({
    feePayer: from,
    ...(await connection.getLatestBlockhash()),
  }).add(
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 7_000_000 }),
    SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }),
  )
  transaction.sign(solanaKeypair(buyer.solana))
  const raw = transaction.serialize()
  const signature = await connection.sendRawTransaction(raw)
  await until(async () => (await connection.getSignatureStatus(signature)).value !== null)
  return { signature, raw, message: transaction.compileMessage() }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not come about in 20 s.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
