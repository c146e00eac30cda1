import { Trans, useLingui } from '@lingui/react/macro'
import type { Match, MatchRow } from '#chains/match.ts'
import { FIELD_NAMES, sayMatch } from '../../payment/match-words.ts'
import { useNetwork } from '../../shell/use-config.ts'
import { Badge } from '../../ui/Badge.tsx'
import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'

/** Requested beside the transaction, field by field. Equal values are told once, unequal ones both. */
export function MatchTable({ match }: { match: Match }) {
  const { t } = useLingui()
  const wrong = match.rows.filter(({ ok }) => !ok).length
  const count = match.rows.length
  // What differs comes first: it is why nothing is signed.
  const rows = [...match.rows].sort((a, b) => Number(a.ok) - Number(b.ok))
  return (
    <section aria-labelledby="match-heading" className="mt-6">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-semibold" id="match-heading">
          <Trans>Your payment, line by line</Trans>
        </h3>
        <Badge icon={<Icon name={wrong ? 'cross' : 'check'} size={14} />} tone={wrong ? 'bad' : 'good'}>
          {wrong ? t`${wrong} of ${count} differ` : t`All equal`}
        </Badge>
      </div>
      <p className="mt-0.5 text-sm text-muted">
        <Trans>This browser read the transaction itself and compared it with what was asked for.</Trans>
      </p>
      <table className="mt-3 w-full text-sm">
        <caption className="sr-only">
          <Trans>Requested values beside those of the transaction</Trans>
        </caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">
              <Trans>Field</Trans>
            </th>
            <th scope="col">
              <Trans>Requested and in the transaction</Trans>
            </th>
            <th scope="col">
              <Trans>Equal</Trans>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-y border-line">
          {rows.map((row) => (
            <tr className={cx(!row.ok && 'bg-bad-soft *:first:ps-3 *:last:pe-3')} key={row.field}>
              <th className="w-26 py-2.5 pe-3 text-start align-top font-normal text-muted sm:w-36" scope="row">
                {t(FIELD_NAMES[row.field])}
              </th>
              <td className="py-2.5 align-top [overflow-wrap:anywhere]">{row.ok ? <Value row={row} text={withoutWork(row)} /> : <Difference row={row} />}</td>
              <td className="w-8 py-2.5 ps-2 text-end align-top">
                <span className={cx('inline-flex', row.ok ? 'text-good-ink' : 'text-bad-ink')}>
                  <Icon name={row.ok ? 'check' : 'cross'} />
                  <span className="sr-only">{row.ok ? t`Equal` : t`Differs`}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** How much work the chain charges for is said where it differs, and with the fee's own figures. */
function withoutWork({ field, got }: MatchRow): string {
  return field === 'instructions' ? got.replace(/ with [0-9]+ gas$/, '') : got
}

function Difference({ row }: { row: MatchRow }) {
  return (
    <dl className="space-y-1">
      <div>
        <dt className="text-xs text-muted">
          <Trans>Requested</Trans>
        </dt>
        <dd>
          <Value row={row} text={row.expected} />
        </dd>
      </div>
      <div>
        <dt className="text-xs font-medium text-bad-ink">
          <Trans>In the transaction</Trans>
        </dt>
        <dd className="font-medium">
          <Value row={row} text={row.got} />
        </dd>
      </div>
    </dl>
  )
}

const CODES = new Set<MatchRow['field']>(['sender', 'recipient', 'spender', 'contract', 'feePayer', 'signers', 'memo', 'expiry', 'network'])

function Value({ row, text }: { row: MatchRow; text: string }) {
  const network = useNetwork(text)
  if (row.field === 'network' && network) return `${network.name} (${text})`
  if (row.field === 'expiry' && row.ok) return <Expiry text={text} />
  return <span className={cx(CODES.has(row.field) && /[0-9a-zA-Z]{16}/.test(text) && 'font-mono text-[13px] break-all')}>{sayMatch(text, row.field)}</span>
}

/** How long what is signed is good: a transaction on EVM until its number is used, on Solana for as long as its blockhash is young; a message until a time. */
function Expiry({ text }: { text: string }) {
  const nonce = /^nonce (\d+)$/.exec(text)?.[1]
  if (nonce) return <Trans>another transaction of this account takes its place, number {nonce} (the nonce)</Trans>
  const until = Date.parse(/^until (.+)$/.exec(text)?.[1] ?? '')
  if (!Number.isNaN(until)) return <Time at={until} look="full" />
  return (
    <Trans>
      its blockhash is about a minute old: <span className="font-mono text-[13px] break-all">{text}</span>
    </Trans>
  )
}
