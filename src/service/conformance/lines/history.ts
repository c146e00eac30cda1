import {
  refused,
  single,
  wrong,
  succeeded,
  type ConformanceLine,
  EVM_ADDRESS,
  SOLANA_ADDRESS,
  UNKNOWN_PAYMENT,
} from './line.ts'

const HISTORY = 'GET /payment/history/:walletAddress'
const STATUS = 'GET /payment/status/:paymentId'
const page = (limit: number, offset: number) =>
  succeeded(`limit ${limit}, offset ${offset}, payments`, (body) => {
    if (body.limit !== limit || body.offset !== offset)
      return `expected limit ${limit} and offset ${offset}, received ${String(body.limit)} and ${String(body.offset)}`
    return Array.isArray(body.payments) ? undefined : 'expected payments'
  })

type Row = { name: string; requirement: string; query: string; wallet?: string } & Pick<
  Parameters<typeof single>[0],
  'expected' | 'check'
>

const rows: Row[] = [
  {
    name: 'defaults',
    requirement: 'Without parameters: everything, 50 from the first on',
    query: '',
    ...page(50, 0),
  },
  {
    name: 'solana',
    requirement: 'The wallet may have a Solana address',
    query: '',
    wallet: SOLANA_ADDRESS,
    ...page(50, 0),
  },
  {
    name: 'wallet format',
    requirement: 'The wallet is an address',
    query: '',
    wallet: 'bob',
    ...wrong('walletAddress'),
  },
  ...['sent', 'received', 'all'].map((type) => ({
    name: `type ${type}`,
    requirement: `The type may be ${type}`,
    query: `?type=${type}`,
    ...page(50, 0),
  })),
  {
    name: 'type other',
    requirement: 'Any other type is refused',
    query: '?type=both',
    ...wrong('type'),
  },
  { name: 'limit least', requirement: 'The limit may be 1', query: '?limit=1', ...page(1, 0) },
  { name: 'limit most', requirement: 'The limit may be 500', query: '?limit=500', ...page(500, 0) },
  {
    name: 'limit above',
    requirement: 'A limit over 500 is refused, not cut',
    query: '?limit=501',
    ...wrong('limit'),
  },
  {
    name: 'limit zero',
    requirement: 'A limit of nothing is refused',
    query: '?limit=0',
    ...wrong('limit'),
  },
  {
    name: 'limit number',
    requirement: 'The limit is a whole number',
    query: '?limit=ten',
    ...wrong('limit'),
  },
  {
    name: 'offset',
    requirement: 'An offset leaves out the first ones',
    query: '?offset=10',
    ...page(50, 10),
  },
  {
    name: 'offset negative',
    requirement: 'An offset under 0 is refused',
    query: '?offset=-1',
    ...wrong('offset'),
  },
]

/** Sections 2 and 4: reading payments. */
export const historyLines: ConformanceLine[] = [
  ...rows.map(({ name, query, wallet = EVM_ADDRESS, ...row }) =>
    single({
      id: `2 history ${name}`,
      endpoint: HISTORY,
      input: { method: 'GET', path: `/payment/history/${wallet}${query}` },
      ...row,
    }),
  ),
  single({
    id: '4 status unknown',
    requirement: 'The status of a payment that does not exist is not told',
    endpoint: STATUS,
    input: { method: 'GET', path: `/payment/status/${UNKNOWN_PAYMENT}` },
    ...refused(404, 'NOT_FOUND'),
  }),
  single({
    id: '4 status malformed',
    requirement: 'A payment is named by its id',
    endpoint: STATUS,
    input: { method: 'GET', path: '/payment/status/7' },
    ...wrong('paymentId'),
  }),
]
