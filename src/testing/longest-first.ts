import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files by the folder that says how long they take: begun last, a whole devnet would keep one worker busy while the others have nothing left. */
const LONGEST = ['/src/devnet/', '/src/testing/deploy', '/src/testing/model', '/src/service/crash']

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONGEST.some((part) => moduleId.includes(part))
}
