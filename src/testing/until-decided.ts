import { ProblemError } from '#contract/problem.ts'

/**
 * A request as a client makes it: what the node was too busy for is asked again, since `CHAIN_UNAVAILABLE` says that nothing was kept.
 * Resolves or rejects with the first answer that decides something; the test's own timeout is the deadline.
 */
export async function untilDecided<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ProblemError && error.code === 'CHAIN_UNAVAILABLE')) throw error
    }
  }
}
