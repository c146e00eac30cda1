import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../api/queries.ts'
import { formatList } from '../locales/formats.ts'
import { Badge } from '../ui/Badge.tsx'

/** Says in words when the money here is not real. */
export function NetworkBadge() {
  const { data } = useQuery(configQuery)
  const { t } = useLingui()
  const tests = data?.networks.filter((network) => network.testnet) ?? []
  if (!data || tests.length === 0) return null
  const names = formatList(tests.map((network) => network.name))
  return (
    <Badge title={t`${names}: coins here have no value.`} tone="warn">
      {tests.length === data.networks.length ? t`Test network` : t`Some test networks`}
    </Badge>
  )
}
