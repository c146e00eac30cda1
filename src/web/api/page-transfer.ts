/**
 * Something one page hands to the next, outside the address: a proof is like a cheque, and addresses are kept, logged and shared.
 * It lives in this tab's memory until it is taken.
 */
const handed = new Map<string, string>()

export function passToPage(to: 'verify', text: string): void {
  handed.set(to, text)
}

/** What was handed over, once. */
export function takePassed(to: 'verify'): string | undefined {
  const text = handed.get(to)
  handed.delete(to)
  return text
}
