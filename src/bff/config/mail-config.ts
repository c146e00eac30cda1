import { isEmail } from '#contract/payment-link.ts'

/** How and where e-mails are sent. */
export type MailConfig = {
  server: {
    host: string
    port: number
    /** TLS from the first byte; otherwise STARTTLS, which is required unless the server is on this machine. */
    secure: boolean
    requireTLS: boolean
    auth?: { user: string; pass: string }
  }
  from: { name: string; address: string }
  /** Where the links in e-mails lead, without a slash at the end. */
  dashboardUrl: string
  /** This proxy as mail programs reach it, without a slash at the end. */
  publicUrl: string
}

type MailVariables = {
  SMTP_URL?: string | undefined
  MAIL_FROM?: string | undefined
  DASHBOARD_URL?: string | undefined
  PUBLIC_URL?: string | undefined
  ALLOWED_ORIGINS: readonly string[]
  TITLE: string
}

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/** `smtps://` or `smtp://`, a host, and nothing that could weaken TLS. */
export function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text)
  return (
    ['smtp:', 'smtps:'].includes(protocol) &&
    hostname !== '' &&
    ['', '/'].includes(pathname) &&
    `${search}${hash}` === '' &&
    (username === '') === (password === '') &&
    [username, password].every(isEncoded)
  )
}

export function isSender(text: string): boolean {
  return isEmail(text) && /^[\x21-\x7e]+$/.test(text)
}

/** What is missing beside a variable that is set. Values are not repeated: the URL has a password. */
export function mailProblems({
  SMTP_URL,
  MAIL_FROM,
  PUBLIC_URL,
  DASHBOARD_URL,
  ALLOWED_ORIGINS,
}: MailVariables): string[] {
  if (DASHBOARD_URL !== undefined && !ALLOWED_ORIGINS.includes(new URL(DASHBOARD_URL).origin))
    return ['DASHBOARD_URL: expected an address whose origin is one of ALLOWED_ORIGINS.']
  if (SMTP_URL === undefined)
    return MAIL_FROM === undefined ? [] : ['MAIL_FROM: expected SMTP_URL with it.']
  return [
    ...(MAIL_FROM === undefined ? ['SMTP_URL: expected MAIL_FROM with it.'] : []),
    ...(PUBLIC_URL === undefined
      ? ['SMTP_URL: expected PUBLIC_URL with it, for the link that ends e-mails.']
      : []),
  ]
}

/** Undefined where this proxy sends no e-mails. */
export function toMailConfig(values: MailVariables): MailConfig | undefined {
  const { SMTP_URL, MAIL_FROM, DASHBOARD_URL, PUBLIC_URL, ALLOWED_ORIGINS, TITLE } = values
  if (SMTP_URL === undefined || MAIL_FROM === undefined || PUBLIC_URL === undefined)
    return undefined
  const { protocol, hostname, port, username, password } = new URL(SMTP_URL)
  const secure = protocol === 'smtps:'
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    server: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (secure ? 465 : 587),
      secure,
      requireTLS: !secure && !LOOPBACK.includes(hostname),
      ...(username !== '' && { auth }),
    },
    from: { name: TITLE, address: MAIL_FROM },
    dashboardUrl: DASHBOARD_URL ?? ALLOWED_ORIGINS[0] ?? '',
    publicUrl: PUBLIC_URL,
  }
}

function isEncoded(text: string): boolean {
  try {
    return !/[\p{C}]/u.test(decodeURIComponent(text))
  } catch {
    return false
  }
}
