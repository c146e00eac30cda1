import { describeForLog } from '#contract/redact.ts'
import { DataFolderError, FolderLockedError } from '#postgres/folder-lock.ts'
import { FailoverError } from '#postgres/open.ts'
import { PoolerError } from '#postgres/runtime-role.ts'
import { SchemaVersionError } from '#postgres/schema-version.ts'
import { SignerConfigError } from '#signer/config.ts'
import { ProxyConfigError } from './config/config.ts'
import { OperatorError } from './upstream/problem.ts'

/** Why the proxy could not start or go on: what the operator can correct in a sentence, everything else with its stack. */
export function explainFailure(error: unknown): string {
  const { message, stack } = describeForLog(error)
  if (error instanceof OperatorError) return String(error.facts.details?.['operator'] ?? message)
  return error instanceof ProxyConfigError ||
    error instanceof SignerConfigError ||
    error instanceof FailoverError ||
    error instanceof SchemaVersionError ||
    error instanceof PoolerError ||
    error instanceof DataFolderError ||
    error instanceof FolderLockedError
    ? error.message
    : (stack ?? message)
}
