import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { secretKeyToAccount, solanaHandlers } from './solana-wallet.ts'

const [payer, sender, stranger] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]

function unsigned(version: 'legacy' | 'v0'): VersionedTransaction {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: stranger.publicKey.toBase58(),
    instructions: [
      SystemProgram.transfer({
        fromPubkey: sender.publicKey,
        toPubkey: stranger.publicKey,
        lamports: 1,
      }),
    ],
  })
  return new VersionedTransaction(
    version === 'v0' ? message.compileToV0Message() : message.compileToLegacyMessage(),
  )
}

function signWith(keypair: Keypair, transaction: Uint8Array): Promise<Uint8Array> {
  const account = secretKeyToAccount(keypair.secretKey)
  const owner = {
    account: async () => account,
    connect: async () => account,
    disconnect: () => {},
    approve: async () => {},
  }
  const { address } = account
  return solanaHandlers(owner).signTransaction({ address, chain: undefined, transaction })
}

test.each([
  ['the fee payer', 'v0', payer],
  ['the second signer', 'v0', sender],
  ['the fee payer', 'legacy', payer],
  ['the second signer', 'legacy', sender],
] as const)('%s signs a %s transaction as web3.js does', async (_who, version, keypair) => {
  const expected = unsigned(version)
  expected.sign([keypair])
  const signed = await signWith(keypair, unsigned(version).serialize())
  expect(signed).toEqual(expected.serialize())
})

test.each(['v0', 'legacy'] as const)(
  'a %s transaction that asks for no signature of the account gets none',
  async (version) => {
    const signing = signWith(stranger, unsigned(version).serialize())
    await expect(signing).rejects.toMatchObject({ code: -32602 })
  },
)
