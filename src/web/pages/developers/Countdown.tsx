import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { apiKeysQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { serverNow } from '../../api/clock.ts'
import { formatDuration } from '../../ui/format-time.ts'

/** Until a rotated key ends, by the second; then the list is read again. */
export function Countdown({ until }: { until: number }) {
  const [left, setLeft] = useState(() => until - serverNow())
  useEffect(() => {
    const timer = setInterval(() => {
      const next = until - serverNow()
      setLeft(next)
      if (next > 0) return
      clearInterval(timer)
      void queryClient.invalidateQueries(apiKeysQuery)
    }, 1000)
    return () => clearInterval(timer)
  }, [until])
  const time = formatDuration(Math.max(0, Math.ceil(left / 1000) * 1000))
  return (
    <span className="figures">
      <Trans>ends in {time}</Trans>
    </span>
  )
}
