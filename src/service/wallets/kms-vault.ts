import {
  DecryptCommand,
  EncryptCommand,
  KMSClient,
  type KMSClientConfig,
} from '@aws-sdk/client-kms'
import { regionOf } from '../context/kms-key.ts'
import type { KeyVault } from '../context/vault.ts'

/** KMS answers within milliseconds; a send that waits longer is better tried again. */
const ANSWER_WITHIN_MS = 5_000
const ATTEMPTS = 3

/**
 * The vault of a key that AWS KMS keeps: the key never leaves it, this process only asks it to wrap and unwrap 32 bytes.
 * Credentials come from where the AWS client looks for them: the environment, a profile, or the role of the machine. They need
 * `kms:Encrypt` and `kms:Decrypt` of this key.
 * @param keyArn as `isKmsKey` says
 */
export function openKmsVault(
  keyArn: string,
  options: Pick<KMSClientConfig, 'endpoint' | 'credentials'> = {},
): KeyVault {
  const client = new KMSClient({
    ...options,
    region: regionOf(keyArn),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: ANSWER_WITHIN_MS,
      requestTimeout: ANSWER_WITHIN_MS,
      throwOnRequestTimeout: true,
    },
  })
  return {
    keyId: keyArn,
    async wrap(dataKey, context) {
      const answer = await client.send(
        new EncryptCommand({
          KeyId: keyArn,
          Plaintext: dataKey,
          EncryptionContext: toKmsContext(context),
        }),
      )
      return bytesOf(answer.CiphertextBlob)
    },
    async unwrap(wrapped, context) {
      // Naming the key keeps a ciphertext made under another key, by whoever could write to the database, from being opened.
      const answer = await client.send(
        new DecryptCommand({
          KeyId: keyArn,
          CiphertextBlob: wrapped,
          EncryptionContext: toKmsContext(context),
        }),
      )
      return bytesOf(answer.Plaintext)
    },
  }
}

/** It stands in CloudTrail beside each use of the key, so that an auditor sees whose wallet signed. */
function toKmsContext(context: string): Record<string, string> {
  return { paydesk: context }
}

function bytesOf(blob: Uint8Array | undefined): Uint8Array {
  if (blob === undefined || blob.length === 0)
    throw new Error('AWS KMS answered without the bytes that were asked for.')
  return blob
}
