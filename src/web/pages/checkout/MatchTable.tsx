import type { Match, MatchRow } from '#chains/match.ts'
import { useNetwork } from '../../shell/use-config.ts'
import { Badge } from '../../ui/Badge.tsx'
import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'

const LABELS: Readonly<Record<MatchRow['field'], string>> = {
  network: 'Network',
  sender: 'From',
  recipient: 'To',
  amount: 'Amount',
  asset: 'Currency',
  fee: 'Network fee',
  rent: 'Account rent',
  feePayer: 'Fee paid by',
  signers: 'Signed by',
  memo: 'Memo',
  expiry: 'Good until',
  instructions: 'What it does',
}

/** Requested beside the transaction, field by field. Equal values are told once, unequal ones both. */
export function MatchTable({ match }: { match: Match }) {
  const wrong = match.rows.filter(({ ok }) => !ok).length
  // What differs comes first: it is why nothing is signed.
  const rows = [...match.rows].sort((a, b) => Number(a.ok) - Number(b.ok))
  return (
    <section aria-labelledby="match-heading" className="mt-6">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-semibold" id="match-heading">
          What you asked for and what you would sign
        </h3>
        <Badge icon={<Icon name={wrong ? 'cross' : 'check'} size={14} />} tone={wrong ? 'bad' : 'good'}>
          {wrong ? `${wrong} of ${match.rows.length} differ` : 'All equal'}
        </Badge>
      </div>
      <p className="mt-0.5 text-sm text-muted">Read from the transaction’s bytes, in this browser.</p>
      <table className="mt-3 w-full text-sm">
        <caption className="sr-only">Requested values beside those of the transaction</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Requested and in the transaction</th>
            <th scope="col">Equal</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-y border-line">
          {rows.map((row) => (
            <tr className={cx(!row.ok && 'bg-bad-soft *:first:ps-3 *:last:pe-3')} key={row.field}>
              <th className="w-28 py-2.5 pe-3 text-start align-top font-normal text-muted sm:w-36" scope="row">
                {LABELS[row.field]}
              </th>
              <td className="py-2.5 align-top [overflow-wrap:anywhere]">{row.ok ? <Value row={row} text={row.got} /> : <Difference row={row} />}</td>
              <td className="w-8 py-2.5 ps-2 text-end align-top">
                <span className={cx('inline-flex', row.ok ? 'text-good-ink' : 'text-bad-ink')}>
                  <Icon name={row.ok ? 'check' : 'cross'} />
                  <span className="sr-only">{row.ok ? 'Equal' : 'Differs'}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Difference({ row }: { row: MatchRow }) {
  return (
    <dl className="space-y-1">
      <div>
        <dt className="text-xs text-muted">Requested</dt>
        <dd>
          <Value row={row} text={row.expected} />
        </dd>
      </div>
      <div>
        <dt className="text-xs font-medium text-bad-ink">In the transaction</dt>
        <dd className="font-medium">
          <Value row={row} text={row.got} />
        </dd>
      </div>
    </dl>
  )
}

const CODES = new Set<MatchRow['field']>(['sender', 'recipient', 'feePayer', 'signers', 'memo', 'expiry', 'network'])

function Value({ row, text }: { row: MatchRow; text: string }) {
  const network = useNetwork(text)
  if (row.field === 'network' && network) return `${network.name} (${text})`
  if (row.field === 'expiry' && row.ok) return <Expiry text={text} />
  return <span className={cx(CODES.has(row.field) && /[0-9a-zA-Z]{16}/.test(text) && 'font-mono text-[13px] break-all')}>{text}</span>
}

/** How long the transaction is good: on EVM until its number is used, on Solana for as long as its blockhash is young. */
function Expiry({ text }: { text: string }) {
  const nonce = /^nonce (\d+)$/.exec(text)?.[1]
  if (nonce) return `your account sends its transaction ${nonce} (the nonce)`
  return (
    <>
      its blockhash is about a minute old: <span className="font-mono text-[13px] break-all">{text}</span>
    </>
  )
}
