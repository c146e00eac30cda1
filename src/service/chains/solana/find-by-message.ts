import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { SolanaEndpoints } from './client.ts'
import { signaturesOf } from './find.ts'

type Query = { sender: string; builtHeight: number | null; messageHash: string }

/** Looks through what its sender has done since for the transaction with this message that succeeded. The cluster runs one message once. */
export function findByMessage(
  endpoints: SolanaEndpoints,
  { sender, builtHeight, messageHash }: Query,
): Promise<string | undefined> {
  return endpoints.ask(async (connection) => {
    for (const { signature, err } of await signaturesOf(connection, sender, {
      from: builtHeight ?? 0,
    })) {
      if (err !== null) continue
      const landed = await connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      })
      if (landed && bytesToHex(sha256(landed.transaction.message.serialize())) === messageHash)
        return signature
    }
    return undefined
  })
}
