import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callProxy } from '../../api/client.ts'
import { describeError } from '../../errors/codes.ts'
import { shortAddress } from '#contract/known-address.ts'
import { formatList } from '../../locales/formats.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'

const sessionsQuery = queryOptions({
  queryKey: ['sessionList'],
  queryFn: async ({ signal }) => (await callProxy('sessionList', {}, { signal })).sessions,
})

/** Other browsers in which a wallet of this session is signed in, and one button that ends them all. */
export function OtherSessions() {
  const { t } = useLingui()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const [ending, setEnding] = useState(false)
  const [userError, setUserError] = useState<string>()
  const others = data?.filter(({ current }) => !current)

  async function endOthers() {
    setEnding(true)
    setUserError(undefined)
    try {
      const { ended } = await callProxy('sessionEndOthers', { body: {} })
      toast(
        t`${plural(ended, { one: '# other browser is signed out', other: '# other browsers are signed out' })}.`,
        { tone: 'good' },
      )
      await refetch()
    } catch (problem) {
      setUserError(describeError(problem).title)
    } finally {
      setEnding(false)
    }
  }

  return (
    <section className="mt-6 border-t border-line pt-5">
      <h3 className="text-sm font-medium">
        <Trans>Other browsers</Trans>
      </h3>
      {!data && !error && <Skeleton className="mt-3 h-10" />}
      {error && <p className="mt-1 text-sm text-muted">{describeError(error).title}</p>}
      {others?.length === 0 && (
        <p className="mt-1 text-sm text-muted">
          <Trans>Your wallets are signed in nowhere else.</Trans>
        </p>
      )}
      {others && others.length > 0 && (
        <>
          <ul className="mt-2 divide-y divide-line text-sm">
            {others.map(({ wallets, createdAt, lastUsedAt }) => (
              <li
                className="flex flex-wrap justify-between gap-x-4 py-2.5"
                key={`${createdAt} ${wallets.join()}`}
              >
                <span className="font-mono text-[13px]">
                  {formatList(wallets.map(shortAddress))}
                </span>
                <span className="text-muted">
                  <Trans>
                    Signed in <Time at={createdAt} />, last used{' '}
                    <Time at={lastUsedAt} look="relative" />
                  </Trans>
                </span>
              </li>
            ))}
          </ul>
          <Button busy={ending} className="mt-3" onClick={() => void endOthers()} size="sm">
            <Trans>Sign out all others</Trans>
          </Button>
        </>
      )}
      {userError && (
        <p className="mt-3 text-sm text-bad-ink" role="alert">
          {userError}
        </p>
      )}
    </section>
  )
}
