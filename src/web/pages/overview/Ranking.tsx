import type { ReactNode } from 'react'
import { formatNumber } from '../../locales/formats.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Card } from '../../ui/Card.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

export type RankingProps = {
  title: ReactNode
  empty: ReactNode
  entries: readonly { kind: 'address' | 'resource'; name: string; count: number }[]
}

/** The first five by number of payments; each leads to its payments. */
export function Ranking({ title, empty, entries }: RankingProps) {
  const top = entries.slice(0, 5)
  const max = Math.max(1, ...top.map(({ count }) => count))
  return (
    <Card title={title}>
      {top.length === 0 && <p className="text-sm text-muted">{empty}</p>}
      <ul className="space-y-3 pointer-coarse:space-y-4">
        {top.map(({ kind, name, count }) => (
          <li key={name}>
            <Link
              className="group touch-target block rounded-sm text-sm"
              to={pathTo('payments', { search: { q: name } })}
            >
              <span className="flex items-baseline justify-between gap-3">
                <span className="min-w-0 truncate group-hover:underline" title={name}>
                  {kind === 'address' ? (
                    <Address value={name} />
                  ) : (
                    <UntrustedText text={name.replace(/^https?:\/\//, '')} />
                  )}
                </span>
                <span className="figures shrink-0 text-muted">{formatNumber(count)}</span>
              </span>
              <span aria-hidden className="mt-1 block h-1 rounded-full bg-neutral-soft">
                <span
                  className="forced-fill block h-1 rounded-full bg-edge"
                  style={{ width: `${(count / max) * 100}%` }}
                />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}
