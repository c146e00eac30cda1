import { describeForLog } from '#contract/redact.ts'
import { BackupError } from '#postgres/backup.ts'
import { DataFolderError, FolderLockedError } from '#postgres/folder-lock.ts'
import { PoolerError } from '#postgres/runtime-role.ts'
import { SchemaVersionError } from '#postgres/schema-version.ts'
import { FailoverError, isDatabaseUnavailable } from '#postgres/open.ts'
import { SignerConfigError } from '#signer/config.ts'
import { ServiceConfigError } from './config.ts'

/** Why a program could not start or go on: what the operator can correct in a sentence, everything else with its stack. */
export function explainFailure(error: unknown): string {
  const { message, stack } = describeForLog(error)
  if (!(error instanceof Error)) return message
  if (
    error instanceof ServiceConfigError ||
    error instanceof SignerConfigError ||
    error instanceof BackupError ||
    error instanceof DataFolderError ||
    error instanceof FolderLockedError ||
    error instanceof FailoverError ||
    error instanceof SchemaVersionError ||
    error instanceof PoolerError
  )
    return error.message
  if ('code' in error && error.code === 'EADDRINUSE')
    return `The address is taken by another program (${error.message}). Choose another PORT or INTERNAL_PORT, or 0 for a free one.`
  if (isDatabaseUnavailable(error))
    return `The database cannot be reached (${error.message}). Check DATABASE_URL, and that the server runs.`
  return stack ?? message
}
