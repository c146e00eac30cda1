import { useLingui } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import { LosslessNumber } from '#contract/json.ts'
import { Icon } from '../../../ui/Icon.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'

/** Deeper or longer than this is folded at first. */
const OPEN_DEPTH = 2
const OPEN_ITEMS = 30

/** Foreign JSON as a tree that opens and closes; every text of it is text. */
export function JsonTree({
  value,
  name,
  depth = 0,
}: {
  value: unknown
  name?: string
  depth?: number
}) {
  const { t } = useLingui()
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) {
    return (
      <div className="flex flex-wrap gap-x-2">
        {name !== undefined && <Name text={name} />}
        <Leaf value={value} />
      </div>
    )
  }
  const list = Array.isArray(value)
  const entries = list
    ? value.map((item: unknown, index): [string, unknown] => [String(index), item])
    : Object.entries(value)
  const count = entries.length
  if (count === 0) {
    return (
      <div className="flex flex-wrap gap-x-2">
        {name !== undefined && <Name text={name} />}
        <span className="text-muted">{list ? '[]' : '{}'}</span>
      </div>
    )
  }
  const size = list
    ? t`${plural(count, { one: '# entry', other: '# entries' })}`
    : t`${plural(count, { one: '# field', other: '# fields' })}`
  return (
    <details className="group/node" open={depth < OPEN_DEPTH && count <= OPEN_ITEMS}>
      <summary className="flex cursor-pointer items-center gap-1 rounded-sm">
        <Icon
          className="shrink-0 text-muted transition-transform [[open]>summary>&]:rotate-90"
          name="chevronRight"
          size={14}
        />
        {name !== undefined && <Name text={name} />}
        <span className="font-sans text-xs text-muted">{size}</span>
      </summary>
      <div className="ms-1.5 space-y-0.5 border-s border-line ps-3">
        {entries.map(([key, item]) => (
          <JsonTree depth={depth + 1} key={key} name={key} value={item} />
        ))}
      </div>
    </details>
  )
}

function Name({ text }: { text: string }) {
  return <UntrustedText className="shrink-0 text-muted" text={text} />
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string')
    return (
      <UntrustedText
        className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap"
        text={value === '' ? '""' : value}
      />
    )
  return (
    <span className="min-w-0 break-all text-accent">
      {value instanceof LosslessNumber ? value.value : String(value)}
    </span>
  )
}
