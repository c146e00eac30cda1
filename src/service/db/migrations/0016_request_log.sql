CREATE TABLE "service"."request_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "service"."request_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"key_id" text NOT NULL,
	"request_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"endpoint" text NOT NULL,
	"status" integer NOT NULL,
	"code" text,
	"duration_ms" integer NOT NULL,
	"request" text,
	"response" text,
	"skipped" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "request_log_account" ON "service"."request_log" USING btree ("account_id","at","id");--> statement-breakpoint
CREATE INDEX "request_log_key" ON "service"."request_log" USING btree ("account_id","key_id","at","id");--> statement-breakpoint
CREATE INDEX "request_log_error" ON "service"."request_log" USING btree ("account_id","at","id") WHERE code is not null;--> statement-breakpoint
CREATE INDEX "request_log_request" ON "service"."request_log" USING btree ("account_id","request_id");--> statement-breakpoint
CREATE INDEX "request_log_age" ON "service"."request_log" USING btree ("at");