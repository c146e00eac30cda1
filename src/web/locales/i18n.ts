import { i18n } from '@lingui/core'

// English needs no catalog: its words are in the code. So there is a language before anything is loaded.
i18n.load('en', {})
i18n.activate('en')

export { i18n }
