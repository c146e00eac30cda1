import type { Stryker } from '@stryker-mutator/core'

/** A reporter of Stryker that prints each change that no test notices as soon as it is found: a run that is not finished says what it has found. */

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

const UNDETECTED = new Set<MutantResult['status']>(['Survived', 'NoCoverage'])

export function isUndetected({ status }: Pick<MutantResult, 'status'>): boolean {
  return UNDETECTED.has(status)
}

const seen = { planned: 0, tested: 0, undetected: 0 }

/** Of the module that was begun last. */
export function readProgress(): Readonly<typeof seen> {
  return seen
}

const reporter = {
  onMutationTestingPlanReady({ mutantPlans }: { mutantPlans: readonly unknown[] }): void {
    Object.assign(seen, { planned: mutantPlans.length, tested: 0, undetected: 0 })
  },
  onMutantTested(result: MutantResult): void {
    seen.tested++
    if (!isUndetected(result)) return
    seen.undetected++
    const { fileName, location, mutatorName, replacement, status } = result
    console.log(
      `  ${status} ${fileName}:${location.start.line}:${location.start.column} ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 100)}`,
    )
  },
}

/** By this name Stryker looks for what a module adds to it. */
export const strykerPlugins = [{ kind: 'Reporter', name: 'undetected', value: reporter }]
