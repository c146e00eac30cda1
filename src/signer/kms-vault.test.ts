import { randomBytes } from 'node:crypto'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { startKms, type KmsServer } from '#testing/kms-server.ts'
import { openKmsVault } from './kms-vault.ts'
import { seal, unseal } from './seal.ts'

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const OTHER_KEY = KEY.replace('1234abcd', '5678abcd')
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const owner = {
  id: 'wal_1',
  accountId: 'acc_1',
  family: 'evm',
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
} as const

let kms: KmsServer

beforeEach(async () => {
  kms = await startKms({ keyArn: KEY, ...credentials })
  onTestFinished(() => kms[Symbol.asyncDispose]())
})

const open = (arn = KEY, options = {}) =>
  openKmsVault(arn, { endpoint: kms.url, credentials, ...options })

test('a wallet sealed under a key of AWS KMS opens again, and KMS sees its data key and never its secret', async () => {
  const secret = randomBytes(32)
  const sealed = await seal(open(), owner, secret)
  expect(sealed.vaultKeyId).toBe(KEY)
  expect(JSON.stringify(sealed)).not.toContain(secret.toString('base64'))
  expect(Buffer.from(await unseal(open(), owner, sealed))).toEqual(secret)
  expect(kms.calls.map(({ operation, keyId }) => [operation, keyId])).toEqual([
    ['Encrypt', KEY],
    ['Decrypt', KEY],
  ])
  expect(kms.calls[0]?.context).toEqual({ paydesk: expect.stringContaining(owner.address) })
})

test('what was wrapped for one wallet does not open for another', async () => {
  const sealed = await seal(open(), owner, randomBytes(32))
  await expect(unseal(open(), { ...owner, id: 'wal_2' }, sealed)).rejects.toThrow(
    'InvalidCiphertextException',
  )
})

test('another key of KMS does not open it, and is not asked to', async () => {
  const sealed = await seal(open(), owner, randomBytes(32))
  await expect(unseal(open(OTHER_KEY), owner, sealed)).rejects.toThrow('sealed under the vault key')
  expect(kms.calls).toHaveLength(1)
})

test('requests are signed: with other credentials KMS refuses', async () => {
  await expect(
    open(KEY, { credentials: { ...credentials, secretAccessKey: 'wrong' } }).wrap(
      randomBytes(32),
      'x',
    ),
  ).rejects.toThrow('InvalidSignatureException')
})

test('a throttled request is tried again, a refused one is not', async () => {
  kms.fail(400, 'ThrottlingException', 2)
  expect(await open().wrap(randomBytes(32), 'x')).toBeInstanceOf(Uint8Array)
  kms.fail(400, 'AccessDeniedException', 1)
  await expect(open().wrap(randomBytes(32), 'x')).rejects.toThrow('AccessDeniedException')
})
