import { Trans, useLingui } from '@lingui/react/macro'
import type { FileSourceInput } from '#contract/browser-endpoints.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { TextArea } from '../../ui/TextArea.tsx'

/** What the form holds, as typed. */
export type SourceForm = {
  kind: 'text' | 'https' | 's3'
  text: string
  url: string
  credential: 'none' | 'header' | 'basic'
  header: string
  secret: string
  user: string
  endpoint: string
  region: string
  bucket: string
  key: string
}

export const EMPTY_SOURCE: SourceForm = {
  kind: 'text',
  text: '',
  url: '',
  credential: 'none',
  header: 'Authorization',
  secret: '',
  user: '',
  endpoint: '',
  region: 'us-east-1',
  bucket: '',
  key: '',
}

/** What the proxy is asked for; undefined while something is missing. */
export function sourceOf(form: SourceForm): FileSourceInput | undefined {
  const { kind, text, credential, header, secret, user, region, bucket, key } = form
  const [url, endpoint] = [form.url.trim(), form.endpoint.trim()]
  if (kind === 'text') return text.trim() === '' ? undefined : { kind, text }
  if (kind === 's3')
    return endpoint && region && bucket && key && user && secret
      ? { kind, endpoint, region, bucket, key, accessKeyId: user, secretAccessKey: secret }
      : undefined
  if (url === '') return undefined
  if (credential === 'none') return { kind, url }
  if (secret === '') return undefined
  if (credential === 'header')
    return { kind, url, credential: { type: 'header', name: header, value: secret } }
  return user === ''
    ? undefined
    : { kind, url, credential: { type: 'basic', user, password: secret } }
}

type Props = {
  form: SourceForm
  onChange: (form: SourceForm) => void
  errors: Readonly<Record<string, string>>
  /** Whether there is one already. */
  replaces: boolean
  /** Whether the proxy can keep credentials. */
  sealed: boolean
}

export function SourceFields({ form, onChange, errors, replaces, sealed }: Props) {
  const { t } = useLingui()
  const set = (part: Partial<SourceForm>) => onChange({ ...form, ...part })
  return (
    <div className="grid gap-5">
      <div>
        <p className="mb-1.5 text-sm font-medium">{t`Source`}</p>
        <Segmented
          label={t`Source`}
          onChange={(kind) => set({ kind })}
          options={[
            { value: 'text', label: t`Text` },
            { value: 'https', label: 'HTTPS' },
            { value: 's3', label: 'S3' },
          ]}
          value={form.kind}
        />
        {replaces && (
          <p className="mt-1.5 text-sm text-muted">
            <Trans>Leave empty to keep it.</Trans>
          </p>
        )}
      </div>
      {errors['source'] !== undefined && (
        <Banner role="alert" tone="bad">
          {errors['source']}
        </Banner>
      )}
      {form.kind === 'text' && (
        <Field
          error={errors['source.text']}
          hint={<Trans>At most 256 KiB.</Trans>}
          label={<Trans>Text</Trans>}
        >
          <TextArea onChange={(event) => set({ text: event.target.value })} value={form.text} />
        </Field>
      )}
      {form.kind === 'https' && (
        <HttpsFields errors={errors} form={form} sealed={sealed} set={set} />
      )}
      {form.kind === 's3' && <S3Fields errors={errors} form={form} sealed={sealed} set={set} />}
    </div>
  )
}

type Part = Pick<Props, 'form' | 'errors' | 'sealed'> & { set: (part: Partial<SourceForm>) => void }

function HttpsFields({ form, errors, sealed, set }: Part) {
  const { t } = useLingui()
  return (
    <>
      <Field error={errors['source.url']} label={<Trans>Address</Trans>}>
        <Input
          inputMode="url"
          maxLength={2000}
          onChange={(event) => set({ url: event.target.value })}
          placeholder="https://"
          value={form.url}
        />
      </Field>
      <Field error={errors['source.credential']} label={<Trans>Credentials</Trans>}>
        <Select
          onChange={(event) =>
            set({ credential: event.target.value as SourceForm['credential'], secret: '' })
          }
          value={form.credential}
        >
          <option value="none">{t`None`}</option>
          <option value="header">{t`Header`}</option>
          <option value="basic">{t`User and password`}</option>
        </Select>
      </Field>
      {form.credential === 'header' && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field error={errors['source.credential.name']} label={<Trans>Header</Trans>}>
            <Input
              maxLength={64}
              onChange={(event) => set({ header: event.target.value })}
              value={form.header}
            />
          </Field>
          <Secret form={form} label={t`Value`} sealed={sealed} set={set} />
        </div>
      )}
      {form.credential === 'basic' && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label={<Trans>User</Trans>}>
            <Input
              autoComplete="off"
              onChange={(event) => set({ user: event.target.value })}
              value={form.user}
            />
          </Field>
          <Secret form={form} label={t`Password`} sealed={sealed} set={set} />
        </div>
      )}
    </>
  )
}

function S3Fields({ form, errors, sealed, set }: Part) {
  const { t } = useLingui()
  const texts = [
    ['endpoint', t`Endpoint`, 'https://s3.eu-central-1.amazonaws.com'],
    ['region', t`Region`, 'eu-central-1'],
    ['bucket', t`Bucket`, 'books'],
    ['key', t`Object key`, 'guides/guide.pdf'],
  ] as const
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      {texts.map(([name, label, placeholder]) => (
        <Field error={errors[`source.${name}`]} key={name} label={label}>
          <Input
            onChange={(event) => set({ [name]: event.target.value })}
            placeholder={placeholder}
            value={form[name]}
          />
        </Field>
      ))}
      <Field error={errors['source.credential']} label={<Trans>Access key ID</Trans>}>
        <Input
          autoComplete="off"
          onChange={(event) => set({ user: event.target.value })}
          value={form.user}
        />
      </Field>
      <Secret form={form} label={t`Secret access key`} sealed={sealed} set={set} />
    </div>
  )
}

function Secret({
  form,
  label,
  sealed,
  set,
}: Pick<Part, 'form' | 'sealed' | 'set'> & { label: string }) {
  return (
    <Field
      error={
        sealed ? undefined : <Trans>This proxy keeps no credentials. Set SOURCE_KEY_FILE.</Trans>
      }
      hint={<Trans>Stored encrypted, never shown again.</Trans>}
      label={label}
    >
      <Input
        autoComplete="new-password"
        maxLength={2000}
        onChange={(event) => set({ secret: event.target.value })}
        type="password"
        value={form.secret}
      />
    </Field>
  )
}
