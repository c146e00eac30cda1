/** What a test has announced it will print; anything else on `console.error` or `console.warn` fails it. */
const expected: RegExp[] = []

/** Announces that the running test makes some part print this to `console.error` or `console.warn`. */
export function expectConsole(pattern: RegExp): void {
  expected.push(pattern)
}

export function isExpectedOnConsole(text: string): boolean {
  return expected.some((pattern) => pattern.test(text))
}

export function forgetExpectedConsole(): void {
  expected.length = 0
}
