import { useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { parseAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { readDecimal } from '../../locales/decimal.ts'
import { numberLocale } from '../../locales/formats.ts'
import { setCap, useCaps } from '../../local-data/caps.ts'
import { Field } from '../../ui/Field.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { Input } from '../../ui/Input.tsx'

export type CapFieldProps = {
  asset: Asset
  capKey: string
  of: 'perPayment' | 'perDay'
  label: ReactNode
}

/** One limit, kept when the field is left; nothing in it, no limit. What cannot be read is not kept and says so. */
export function CapField({ asset, capKey, of, label }: CapFieldProps) {
  const { t } = useLingui()
  const cap = useCaps()[capKey]
  const kept = cap?.[of]
  const shown =
    kept === undefined ? '' : formatAmountText(BigInt(kept), asset.decimals, { exact: true }).text
  /** What is being typed; nothing while the field shows what is kept. */
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState<string>()

  function keep() {
    if (typed === undefined) return
    const result = readCap(typed, asset)
    setProblem(
      result.ok
        ? undefined
        : result.problem === 'ambiguous'
          ? t`Omit thousands separators.`
          : t`Enter an amount, or leave empty.`,
    )
    if (!result.ok) return
    setCap(capKey, { ...cap, [of]: result.atomic })
    setTyped(undefined)
  }

  return (
    <Field error={problem} label={label}>
      <Input
        inputMode="decimal"
        onBlur={keep}
        onChange={(event) => {
          setTyped(event.target.value)
          setProblem(undefined)
        }}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        placeholder={t`No limit`}
        suffix={<span className="text-sm">{asset.symbol}</span>}
        value={typed ?? shown}
      />
    </Field>
  )
}

type ReadCap =
  | { ok: true; atomic: string | undefined }
  | { ok: false; problem: 'ambiguous' | 'not_a_number' }

function readCap(typed: string, asset: Asset): ReadCap {
  if (typed.trim() === '') return { ok: true, atomic: undefined }
  const decimal = readDecimal(typed, numberLocale())
  if (!decimal.ok) return decimal
  // A limit of zero is one: it lets nothing out.
  if (/^0*\.?0*$/.test(decimal.plain)) return { ok: true, atomic: '0' }
  const parsed = parseAmount(decimal.plain, asset.decimals)
  return parsed.ok
    ? { ok: true, atomic: String(parsed.atomic) }
    : { ok: false, problem: 'not_a_number' }
}
