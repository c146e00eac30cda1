import { mkdir, writeFile } from 'node:fs/promises'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { describeFailure, type TestReport } from './report.ts'

/** Writes what became of a project's tests to `test-results/<project>.json`. A file or a group whose setup failed counts as a failure, with its reason. */
export class VitestReport implements Reporter {
  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
  ): Promise<void> {
    const project = modules[0]?.project.name
    if (project === undefined) return
    const report: TestReport = { passed: 0, failed: 0, skipped: 0, failures: [], durations: [] }
    const fail = (name: string, error: SerializedError | undefined) => {
      report.failed++
      report.failures.push(
        describeFailure(
          name,
          [error?.stack ?? error?.message, error?.diff].filter(Boolean).join('\n'),
        ),
      )
    }
    for (const module of modules) {
      const named = (name: string) => `${module.relativeModuleId} › ${name}`
      for (const error of module.errors()) fail(module.relativeModuleId, error)
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) fail(named(suite.fullName), error)
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        report.durations.push({
          file: module.relativeModuleId,
          title: test.fullName,
          ms: test.diagnostic()?.duration ?? 0,
        })
        if (state === 'failed') fail(named(test.fullName), errors[0])
        else report[state === 'passed' ? 'passed' : 'skipped']++
      }
    }
    for (const error of unhandled) fail('outside of any test', error)
    await mkdir('test-results', { recursive: true })
    await writeFile(`test-results/${project}.json`, JSON.stringify(report))
  }
}
