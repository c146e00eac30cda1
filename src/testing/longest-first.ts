import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Parts of the paths of test files that take over a minute: begun last, one of them would keep one worker busy while the others have nothing left. */
const LONGEST = [
  '/src/devnet/',
  '/src/testing/deploy',
  '/src/testing/model',
  '/src/testing/attacks/',
  '/src/service/crash',
  '/src/service/payments/attribution.model',
  '/src/service/webhooks/killed-sender',
  '/src/service/chains/solana/audit',
  '/src/signer/process',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONGEST.some((part) => moduleId.includes(part))
}
