import * as v from 'valibot'
import { boundedText } from './fields.ts'
import { MAIL_KINDS, MAIL_LANGUAGES } from './mail-endpoints.ts'
import { isEmail } from './payment-link.ts'

/** Bodies of the endpoints of e-mails. Not for browsers, which check what is typed themselves. */
export const mailRows = {
  mailWrite: {
    body: v.strictObject({
      /** One address and nothing else: visible ASCII without quotes, commas and brackets. */
      address: v.pipe(
        boundedText(254),
        v.check(
          (text) => isEmail(text) && /^[\x21-\x7e]+$/.test(text),
          'Expected an e-mail address of ASCII characters.',
        ),
      ),
      language: v.picklist(MAIL_LANGUAGES),
      kinds: v.pipe(v.array(v.picklist(MAIL_KINDS)), v.maxLength(MAIL_KINDS.length)),
    }),
  },
  mailConfirm: {
    body: v.strictObject({
      code: v.pipe(v.string(), v.regex(/^[0-9]{8}$/, 'Expected 8 digits.')),
    }),
  },
  mailDelete: { body: v.strictObject({}) },
} as const
