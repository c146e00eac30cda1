import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent, type ReactNode } from 'react'
import type { FileSourceInput } from '#contract/browser-endpoints.ts'
import type { FileBody, SourceFacts } from '#contract/file-endpoints.ts'
import type { Asset, Network } from '#contract/network.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toast.tsx'
import { readPrices, type TypedPrice } from './file-prices.ts'
import { cacheFile, formatSize } from './files-query.ts'
import { EMPTY_SOURCE, SourceFields, sourceOf, type SourceForm } from './SourceFields.tsx'

type Props = { file: FileBody | undefined; sealed: boolean; onClose: () => void }
type Errors = Readonly<Record<string, string>>

/** Puts a file on sale, or changes the name or the source of one. Its prices stay. */
export function FileDialog({ file, sealed, onClose }: Props) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const assets = currenciesOf(networks)
  const [name, setName] = useState(file?.name ?? '')
  const [fileName, setFileName] = useState(file?.fileName ?? '')
  const [prices, setPrices] = useState<readonly TypedPrice[]>(
    assets.slice(0, 1).map((asset) => ({ asset, amount: '' })),
  )
  const [priceErrors, setPriceErrors] = useState<Errors>({})
  const [form, setForm] = useState<SourceForm>(EMPTY_SOURCE)
  const [checked, setChecked] = useState<SourceFacts>()
  const [busy, setBusy] = useState<'check' | 'save'>()
  const [problem, setProblem] = useState<unknown>()
  const errors = { ...errorsOf(problem), ...priceErrors }
  const source = sourceOf(form)

  function changeSource(next: SourceForm) {
    setForm(next)
    setChecked(undefined)
  }

  async function run(kind: 'check' | 'save', work: () => Promise<void>) {
    if (busy) return
    setBusy(kind)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(undefined)
    }
  }

  const check = (input: FileSourceInput) =>
    run('check', async () => setChecked(await callProxy('fileCheck', { body: { source: input } })))

  function save(event: FormEvent) {
    event.preventDefault()
    const read = readPrices(prices)
    if (!file && !read.ok) return setPriceErrors(read.errors)
    void run('save', async () => {
      const names = { name: name.trim(), ...(fileName.trim() && { fileName: fileName.trim() }) }
      if (file) {
        const body = { id: file.id, ...names, ...(source && { source }) }
        cacheFile((await callProxy('fileUpdate', { body })).file)
        toast(t`File changed`)
      } else if (source && read.ok) {
        const [path = ''] = pathTo('file', { params: { code: '' } }).split(/\/$/)
        const page = new URL(hrefOf(path), window.location.origin).href
        const body = { ...names, source, prices: read.prices, page }
        cacheFile((await callProxy('fileCreate', { body })).file)
        toast(t`File on sale`, { tone: 'good' })
      }
      onClose()
    })
  }

  const complete =
    name.trim() !== '' &&
    (file !== undefined ||
      (source !== undefined && prices.every(({ amount }) => amount.trim() !== '')))
  return (
    <Dialog
      description={file ? <Trans>Prices cannot be changed.</Trans> : undefined}
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            busy={busy === 'save'}
            disabled={!complete}
            form="file"
            type="submit"
            variant="primary"
          >
            {file ? <Trans>Save</Trans> : <Trans>Sell a file</Trans>}
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="lg"
      title={file ? <Trans>Change file</Trans> : <Trans>Sell a file</Trans>}
    >
      <form className="grid gap-5" id="file" noValidate onSubmit={save}>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field error={errors['name']} label={<Trans>Name</Trans>}>
            <Input maxLength={120} onChange={(event) => setName(event.target.value)} value={name} />
          </Field>
          <Field error={errors['fileName']} label={<Trans>File name</Trans>} optional>
            <Input
              maxLength={120}
              onChange={(event) => setFileName(event.target.value)}
              placeholder="guide.pdf"
              value={fileName}
            />
          </Field>
        </div>
        {!file && (
          <Prices
            assets={assets}
            errors={errors}
            onChange={(next) => {
              setPrices(next)
              setPriceErrors({})
            }}
            prices={prices}
          />
        )}
        <SourceFields
          errors={errors}
          form={form}
          onChange={changeSource}
          replaces={file !== undefined}
          sealed={sealed}
        />
        <div className="flex flex-wrap items-center gap-3">
          <Button
            busy={busy === 'check'}
            disabled={!source}
            onClick={() => source && void check(source)}
          >
            <Trans>Check source</Trans>
          </Button>
          {checked && <Checked facts={checked} />}
        </div>
        {problem !== undefined && errors['source'] === undefined && <Problem problem={problem} />}
      </form>
    </Dialog>
  )
}

function Checked({ facts: { size, mimeType, ranges } }: { facts: SourceFacts }) {
  const { t } = useLingui()
  const facts = [
    size === null ? t`Size unknown` : formatSize(size),
    mimeType,
    ...(ranges ? [] : [t`downloads cannot be resumed`]),
  ]
  return (
    <p className="flex items-center gap-1.5 text-sm" role="status">
      <Icon className="text-good" name="check" />
      {facts.join(' · ')}
    </p>
  )
}

function Prices({
  prices,
  assets,
  errors,
  onChange,
}: {
  prices: readonly TypedPrice[]
  assets: readonly Asset[]
  errors: Errors
  onChange: (prices: readonly TypedPrice[]) => void
}) {
  const { t } = useLingui()
  const left = assets.filter(({ symbol }) => prices.every(({ asset }) => asset.symbol !== symbol))
  const [next] = left
  const change = (index: number, part: Partial<TypedPrice>) =>
    onChange(prices.map((price, at) => (at === index ? { ...price, ...part } : price)))
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">{t`Price`}</legend>
      {prices.map(({ asset: { symbol: currency }, amount }, index) => (
        <div className="flex items-start gap-2" key={currency}>
          <Field
            className="flex-1"
            error={errors[`prices.${index}.amount`] ?? errors[`prices.${index}.currency`]}
            label={<Small>{t`Amount in ${currency}`}</Small>}
          >
            <Input
              inputMode="decimal"
              maxLength={40}
              onChange={(event) => change(index, { amount: event.target.value })}
              value={amount}
            />
          </Field>
          <Field
            label={<Small>{prices.length === 1 ? t`Currency` : t`Currency ${index + 1}`}</Small>}
          >
            <Select
              onChange={({ target }) => {
                const asset = left.find(({ symbol }) => symbol === target.value)
                if (asset) change(index, { asset })
              }}
              value={currency}
            >
              {[currency, ...left.map(({ symbol }) => symbol)].map((symbol) => (
                <option key={symbol}>{symbol}</option>
              ))}
            </Select>
          </Field>
          {prices.length > 1 && (
            <IconButton
              className="mt-6"
              icon={<Icon name="cross" />}
              label={t`Remove ${{ name: currency }}`}
              onClick={() => onChange(prices.filter((_, at) => at !== index))}
            />
          )}
        </div>
      ))}
      {next && (
        <div>
          <Button onClick={() => onChange([...prices, { asset: next, amount: '' }])} size="sm">
            <Trans>Add currency</Trans>
          </Button>
        </div>
      )}
    </fieldset>
  )
}

/** An asset for each symbol, the one with the most decimals: a price is one for all networks. */
function currenciesOf(networks: readonly Network[]): readonly Asset[] {
  const assets = networks.flatMap((network) => network.assets)
  const finest = assets.toSorted((a, b) => b.decimals - a.decimals)
  const symbols = new Set(assets.map(({ symbol }) => symbol))
  return [...symbols].flatMap((symbol) => finest.find((asset) => asset.symbol === symbol) ?? [])
}

function Small({ children }: { children: ReactNode }) {
  return <span className="text-xs font-normal text-muted">{children}</span>
}

/** Where the proxy named fields, its words are beside them; above the source, those about the source. */
function Problem({ problem }: { problem: unknown }) {
  const { title, body } = describeRefusal(problem)
  return (
    <Banner role="alert" title={title} tone="bad">
      {body}
    </Banner>
  )
}

function errorsOf(problem: unknown): Errors {
  const named = problem instanceof ApiError ? Object.entries(problem.details) : []
  return Object.fromEntries(
    named.flatMap(([field, text]) => (typeof text === 'string' ? [[field, text]] : [])),
  )
}
