import { LosslessNumber } from '#contract/json.ts'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

const known: Readonly<Record<string, string>> = { description: 'Description', referenceId: 'Reference' }

/** What the payer's side wrote into the payment: shown as text, whatever it is. */
export function MetadataCard({ metadata }: { metadata: Record<string, unknown> }) {
  return (
    <Card subtitle="Written by whoever made the payment." title="Details">
      <Facts>
        {Object.entries(metadata).map(([key, value]) => (
          <Fact
            key={key}
            name={known[key] ?? <UntrustedText className="font-mono text-[13px]" text={key} />}
            under={typeof value === 'object' && value !== null && !(value instanceof LosslessNumber) ? 'always' : 'narrow'}
          >
            <MetadataValue value={value} />
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}

function MetadataValue({ value }: { value: unknown }) {
  if (value instanceof LosslessNumber) return <span className="figures">{value.value}</span>
  if (typeof value === 'string') return <UntrustedText text={value} />
  if (typeof value !== 'object' || value === null) return <span className="figures">{String(value)}</span>
  return (
    <ul className="space-y-1 border-s border-line ps-3">
      {Object.entries(value).map(([key, inner]) => (
        <li key={key}>
          <UntrustedText className="font-mono text-[13px] text-muted" text={key} /> <MetadataValue value={inner} />
        </li>
      ))}
    </ul>
  )
}
