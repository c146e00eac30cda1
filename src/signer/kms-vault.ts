import {
  DecryptCommand,
  EncryptCommand,
  KMSClient,
  type KMSClientConfig,
} from '@aws-sdk/client-kms'
import { regionOf } from './config.ts'
import type { KeyVault } from './seal.ts'

/** KMS answers within milliseconds; a send that waits longer should be retried. */
const ANSWER_WITHIN_MS = 5_000
const ATTEMPTS = 3

/**
 * A vault whose key is in AWS KMS: the key never leaves it, this process only asks it to wrap and
 * unwrap 32 bytes. Credentials come from where the AWS client looks for them: the environment, a
 * profile, or the machine's role. They need `kms:Encrypt` and `kms:Decrypt` for this key.
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
      // Naming the key prevents opening a ciphertext made under another key by an attacker who
      // could write to the database.
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

/** CloudTrail shows it with each use of the key, so that an auditor sees whose wallet signed. */
function toKmsContext(context: string): Record<string, string> {
  return { paydesk: context }
}

function bytesOf(blob: Uint8Array | undefined): Uint8Array {
  if (blob === undefined || blob.length === 0)
    throw new Error('AWS KMS answered without the bytes that were asked for.')
  return blob
}
