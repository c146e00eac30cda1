import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../api/queries.ts'
import { Badge } from '../ui/Badge.tsx'

/** Says in words when the money here is not real. */
export function NetworkBadge() {
  const { data } = useQuery(configQuery)
  const tests = data?.networks.filter((network) => network.testnet) ?? []
  if (!data || tests.length === 0) return null
  const names = tests.map((network) => network.name).join(', ')
  return (
    <Badge title={`${names}: coins here have no value.`} tone="warn">
      {tests.length === data.networks.length ? 'Test network' : 'Some test networks'}
    </Badge>
  )
}
