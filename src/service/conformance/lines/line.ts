import type { ProbeResponse, ProbeRequest, Probe } from './probe.ts'

/**
 * What a run may use besides the address and the key. Lines whose facts are missing are not asked.
 */
export type LineFacts = {
  /** Address with funds on a network of the service, for unsigned payments. */
  wallet?: string
  /** Address of a managed wallet with funds, for hosted payments. */
  managedWallet?: string
  recipient: string
}

export type LineVerdict = 'pass' | 'fail' | 'not asked'
export type LineFinding = { request: string; expected: string; got: string; verdict: LineVerdict }

/** One line of the specification, in our words, and how to check that a service keeps it. */
export type ConformanceLine = {
  id: string
  requirement: string
  /** The endpoint that promises it, as in the table of endpoints. */
  endpoint: string
  run(probe: Probe, facts: LineFacts): Promise<LineFinding>
}

/** `undefined` when the answer is as expected, otherwise what is wrong with it. */
export type LineCheck = (answer: ProbeResponse) => string | undefined

type Single = Omit<ConformanceLine, 'run'> & {
  input: ProbeRequest | ((facts: LineFacts) => ProbeRequest | string)
  expected: string
  check: LineCheck
}

/**
 * A line that one request decides. A string instead of the request says what the run lacks for it.
 */
export function single({ input, expected, check, ...line }: Single): ConformanceLine {
  return {
    ...line,
    async run(probe, facts) {
      const request = typeof input === 'function' ? input(facts) : input
      if (typeof request === 'string')
        return { request: line.endpoint, expected, got: request, verdict: 'not asked' }
      return checkLine(request, await probe.send(request), { expected, check })
    },
  }
}

export function checkLine(
  request: ProbeRequest,
  answer: ProbeResponse,
  { expected, check }: { expected: string; check: LineCheck },
): LineFinding {
  const wrong = check(answer)
  const got = wrong === undefined ? formatResponse(answer) : `${formatResponse(answer)}: ${wrong}`
  return {
    request: describe(request),
    expected,
    got,
    verdict: wrong === undefined ? 'pass' : 'fail',
  }
}

function describe({ method, path, body, key, authorization }: ProbeRequest): string {
  const who = authorization ? ` (${authorization.split(' ')[0]})` : key === null ? ' (no key)' : ''
  return `${method} ${path}${who}${body ? ` ${JSON.stringify(body)}` : ''}`
}

function formatResponse({ status, code, details }: ProbeResponse): string {
  const fields = Object.keys(details)
  return [String(status), code, fields.length > 0 ? `(${fields.join(', ')})` : undefined]
    .filter(Boolean)
    .join(' ')
}

/** Refused with this status and code and, where a field is named, because of that field. */
export function refused(
  status: number,
  code: string,
  field?: string,
): { expected: string; check: LineCheck } {
  return {
    expected: `${status} ${code}${field ? ` (${field})` : ''}`,
    check: (answer) => {
      if (answer.status !== status) return `expected status ${status}`
      if (answer.code !== code) return `expected code ${code}`
      if (field !== undefined && !(field in answer.details))
        return `expected details to name ${field}`
      return typeof answer.body?.timestamp === 'number'
        ? undefined
        : 'expected the error envelope with its timestamp'
    },
  }
}

/** Refused because this field is not valid. */
export function wrong(field: string): { expected: string; check: LineCheck } {
  return refused(400, 'INVALID_PARAMETERS', field)
}

/** A 200 whose body passes a further check. */
export function succeeded(
  expected: string,
  look: (body: Record<string, unknown>) => string | undefined = () => undefined,
): { expected: string; check: LineCheck } {
  return {
    expected: `200, ${expected}`,
    check: ({ status, body, headers }) => {
      if (status !== 200) return 'expected status 200'
      if (!headers.get('content-type')?.startsWith('application/json') || !body)
        return 'expected a JSON object'
      return look(body)
    },
  }
}

/** The request may be refused, but not because of this field. */
export function notRefusedFor(field: string): { expected: string; check: LineCheck } {
  return {
    expected: `no refusal of ${field}`,
    check: ({ status, details }) => {
      if (status === 404 || status === 405 || status === 401 || status >= 500)
        return 'expected the endpoint to take the request'
      return field in details
        ? `expected ${field} to be taken, received: ${String(details[field])}`
        : undefined
    },
  }
}

/** Well-formed values for requests. Nobody's money hangs on these addresses. */
export const EVM_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const OTHER_EVM_ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
export const SOLANA_ADDRESS = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
export const OTHER_SOLANA_ADDRESS = 'AqynRZwvVqUPRwRJXvm6odUb3t93fDjnWe3p6BeuUFxD'
export const NATIVE_EVM = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
export const UNKNOWN_PAYMENT = `pay_${'2'.repeat(22)}`

export const send = {
  walletAddress: EVM_ADDRESS,
  recipientAddress: OTHER_EVM_ADDRESS,
  amount: 0.01,
}

/** Base64 of JSON that is no payment: well-formed as a header, worthless as a proof. */
export const receive = {
  walletAddress: OTHER_EVM_ADDRESS,
  paymentProof: btoa('{"x402Version":1}'),
  expectedAmount: 0.01,
}

export function omitField(body: Record<string, unknown>, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
}
